package mapped_test

import (
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/engine/weights/mapped"
)

func TestFileGivesItsBytes(t *testing.T) {
	dir := t.TempDir()
	for _, content := range []string{"", "x", "some bytes"} {
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		raw, release, err := mapped.File(path)
		if err != nil || string(raw) != content {
			t.Fatalf("%q, %v", raw, err)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := mapped.File(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
	if _, _, err := mapped.File(dir); err == nil {
		t.Error("a directory was mapped")
	}
}
