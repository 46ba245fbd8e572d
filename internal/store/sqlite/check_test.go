package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/errs"
)

// A sound log passes, while it is written too; one with other bytes in its pages does not.
func TestCheckFindsDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	s := open(t, Options{Path: path})
	for i := range 40 {
		if err := s.Append(ctx, session(fmt.Sprintf("s%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := Check(ctx, path); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for at := 4096; at < len(whole); at += 4096 { // the first page is read by Open
		damaged := append([]byte(nil), whole...)
		copy(damaged[at:], "\xff\xff\xff\xff\xff\xff\xff\xff")
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Check(ctx, path); errs.CodeOf(err) == errs.FormatInvalid {
			found++
		} else if err != nil {
			t.Errorf("page %d: %v", at/4096, err)
		}
	}
	if found < len(whole)/4096*3/4 { // the others are pages of free space and of long texts
		t.Errorf("the head of one of %d pages is damaged, and in %d cases that is found", len(whole)/4096, found)
	}
}
