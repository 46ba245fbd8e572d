package blob

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

func open(t *testing.T) (s *Store, first, second string) {
	t.Helper()
	first, second = filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b", "c")
	s, err := Open(first, second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, first, second
}

// A blob that was changed on disk is never given as the one that was written.
func TestChanged(t *testing.T) {
	s, dir, _ := open(t)
	d, err := s.PutBytes([]byte("what was written"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]errs.Code{"what was written": "", "what was Written": errs.ChecksumMismatch, "what was": errs.ChecksumMismatch, "": errs.ChecksumMismatch,
		"what was written and more": errs.ChecksumMismatch} {
		if err := os.WriteFile(filepath.Join(dir, d.Hex()), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Bytes(d, 100); want == "" && err != nil || want != "" && errs.CodeOf(err) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, d.Hex()), []byte("what was written"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Bytes(d, 5); errs.CodeOf(err) != errs.TooLarge {
		t.Errorf("more than was asked for: %v", err)
	}
}

// What cannot be written leaves nothing.
func TestFailedWrite(t *testing.T) {
	s, dir, _ := open(t)
	if _, _, err := s.Put(func(w io.Writer) error { _, _ = w.Write([]byte("half")); return errors.New("no") }); err == nil {
		t.Error("a write that failed was kept")
	}
	if all, _ := os.ReadDir(dir); len(all) != 0 {
		t.Errorf("%v is left", all)
	}
}

// A collection takes from both directories what is old and not wanted, and what a process
// that is gone was writing; Renew makes young.
func TestCollect(t *testing.T) {
	s, first, second := open(t)
	wanted, err := s.PutBytes([]byte("wanted"))
	if err != nil {
		t.Fatal(err)
	}
	renewed, err := s.PutBytes([]byte("renewed"))
	if err != nil {
		t.Fatal(err)
	}
	came := ids.DigestOf([]byte("came from elsewhere"))
	for path, text := range map[string]string{filepath.Join(second, came.Hex()): "came from elsewhere", filepath.Join(first, scratch+"1"): "half", filepath.Join(first, "README"): "a stranger"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	for _, dir := range []string{first, second} {
		all, _ := os.ReadDir(dir)
		for _, e := range all {
			if err := os.Chtimes(filepath.Join(dir, e.Name()), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	if b, err := s.Bytes(came, 100); err != nil || string(b) != "came from elsewhere" {
		t.Errorf("%q %v", b, err)
	}
	if !s.Renew(renewed) || s.Renew(ids.DigestOf(nil)) || s.Renew("../x") {
		t.Error("what is there is renewed, and nothing else")
	}
	freed, err := s.Collect(time.Now().Add(-time.Minute), func(d ids.Digest) bool { return d == wanted })
	if err != nil || freed != int64(len("came from elsewhere")+len("half")) {
		t.Errorf("%d bytes are freed: %v", freed, err)
	}
	for d, there := range map[ids.Digest]bool{wanted: true, renewed: true, came: false} {
		if _, err := s.Bytes(d, 100); (err == nil) != there {
			t.Errorf("%s: %v", d.Short(), err)
		}
	}
	if _, err := os.Stat(filepath.Join(first, "README")); err != nil {
		t.Error(err)
	}
}
