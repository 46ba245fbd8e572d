package models

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// content is a file of random bytes and the model that names it.
func content(t *testing.T, n int, sources ...string) ([]byte, Model) {
	t.Helper()
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(n)})
	if _, err := r.Read(b); err != nil {
		t.Fatal(err)
	}
	return b, Model{Name: "test-model", Digest: ids.DigestOf(b), Size: int64(n), Sources: sources}
}

func newFetcher(t *testing.T) *Fetcher {
	t.Helper()
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Fetcher{Store: s}
}

func file(t *testing.T, b []byte) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(p, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// fetched checks that a fetch gives exactly these bytes and leaves no scratch.
func fetched(t *testing.T, f *Fetcher, m Model, want []byte) string {
	t.Helper()
	p, d, err := f.Fetch(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(p)
	if err != nil || !bytes.Equal(got, want) || d != ids.DigestOf(want) {
		t.Fatalf("%d bytes as %s (%v), want %d as %s", len(got), d, err, len(want), ids.DigestOf(want))
	}
	clean(t, f)
	return p
}

// clean checks that no scratch is left in the store.
func clean(t *testing.T, f *Fetcher) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(f.Store.Dir(), "p*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// refused checks the code of a failed fetch, that it says what to do, and that nothing was stored.
func refused(t *testing.T, f *Fetcher, m Model, code errs.Code) *errs.Error {
	t.Helper()
	_, _, err := f.Fetch(context.Background(), m)
	e := errs.As(err)
	if e == nil || e.Code != code || e.Next == "" {
		t.Fatalf("got %+v, want %s", e, code)
	}
	if stored, err := filepath.Glob(filepath.Join(f.Store.Dir(), "sha256", "*")); err != nil || len(stored) > 0 {
		t.Errorf("stored after a failure: %v %v", stored, err)
	}
	return e
}
