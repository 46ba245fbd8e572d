package disk

import (
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/errs"
)

func TestReplaceKeepsModeAndLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.WriteFile(real, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	if err := Replace(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
	b, err := os.ReadFile(real)
	if err != nil || string(b) != "new" {
		t.Errorf("%q %v", b, err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("scratch was left behind: %v %v", left, err)
	}
}

func TestReplaceWhereNothingCanBeWritten(t *testing.T) {
	err := Replace(filepath.Join(t.TempDir(), "absent", "file"), nil, 0o600)
	if errs.CodeOf(err) != errs.StorageFailed {
		t.Errorf("got %v", err)
	}
}

func TestFreeAndLock(t *testing.T) {
	dir := t.TempDir()
	if n, err := Free(dir); err != nil || n == 0 {
		t.Errorf("%d %v", n, err)
	}
	first, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.Open(first.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if ok, err := TryLock(first); !ok || err != nil {
		t.Fatalf("%v %v", ok, err)
	}
	if ok, err := TryLock(second); ok || err != nil {
		t.Fatalf("locked twice: %v %v", ok, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if ok, err := TryLock(second); !ok || err != nil {
		t.Fatalf("not free again: %v %v", ok, err)
	}
}
