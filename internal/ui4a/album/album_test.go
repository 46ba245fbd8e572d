package album

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/errs"
)

func pictureOf(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bomb is a small PNG whose head says that it is large.
func bomb(t *testing.T) []byte {
	b := pictureOf(t, 1, 1)
	binary.BigEndian.PutUint32(b[16:], 1<<31-1)
	binary.BigEndian.PutUint32(b[20:], 1<<31-1)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

func TestPicturesAreKept(t *testing.T) {
	home := t.TempDir()
	s, good := New(home), pictureOf(t, 8, 8)
	if err := s.Put("acme", "beach.png", good); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Read("acme", "beach.png"); err != nil || !bytes.Equal(got, good) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := s.Read("other", "beach.png"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("another tenant reads it: %v", err)
	}
	if list, err := s.List("other"); err != nil || len(list) != 0 {
		t.Errorf("another tenant lists %v, %v", list, err)
	}
	if err := s.Delete("other", "beach.png"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("another tenant deletes it: %v", err)
	}
	for name, data := range map[string][]byte{
		"../up.png": good, "a/b.png": good, `a\b.png`: good, ".hidden": good, "": good, "picture-1": good, "C:x": good, "a\x00b": good, "é.png": good,
		strings.Repeat("a", 65): good, "text.png": []byte("<svg/>"), "bomb.png": bomb(t), "large.png": make([]byte, MaxBytes+1), "half.png": good[:20],
	} {
		if err := s.Put("acme", name, data); errs.CodeOf(err) != errs.InvalidRequest && errs.CodeOf(err) != errs.TooLarge {
			t.Errorf("%q is kept: %v", name, err)
		}
	}
	for i := range MaxPictures + 3 {
		err := s.Put("acme", "n"+strings.Repeat("x", i%60)+string(rune('a'+i/60)), good)
		if full := i >= MaxPictures-1; (errs.CodeOf(err) == errs.TooLarge) != full {
			t.Fatalf("picture %d: %v", i+2, err)
		}
	}
	if err := s.Put("acme", "beach.png", good); err != nil {
		t.Errorf("one that is there cannot be put again: %v", err)
	}
	// A link that somebody has laid leads nowhere.
	secret := filepath.Join(home, "secret")
	if err := os.WriteFile(secret, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(s.of("acme"), "link.png")); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Read("acme", "link.png"); err == nil {
		t.Errorf("a link gives %d bytes", len(got))
	}
	if err := s.Clear("acme"); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List("acme"); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// Homes share pictures if they have one directory in common, and else none.
func TestHomesMayShareADirectory(t *testing.T) {
	shared, one, two, alone := t.TempDir(), t.TempDir(), t.TempDir(), New(t.TempDir())
	for _, home := range []string{one, two} {
		if err := os.Symlink(shared, filepath.Join(home, directory)); err != nil {
			t.Fatal(err)
		}
	}
	good := pictureOf(t, 8, 8)
	if err := New(one).Put("acme", "beach.png", good); err != nil {
		t.Fatal(err)
	}
	if got, err := New(two).Read("acme", "beach.png"); err != nil || !bytes.Equal(got, good) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if list, err := New(two).List("acme"); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := alone.Read("acme", "beach.png"); errs.CodeOf(err) != errs.NotFound || !strings.Contains(errs.As(err).Next, "one Postgres") {
		t.Errorf("a home of its own: %v", err)
	}
	if err := New(two).Clear("acme"); err != nil {
		t.Fatal(err)
	}
	if _, err := New(one).Read("acme", "beach.png"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("deleted in the other: %v", err)
	}
}
