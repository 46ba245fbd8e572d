package data

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A dataset of the home is named by its digest or the beginning of it, with sha256: or without.
func TestADatasetIsFound(t *testing.T) {
	home, hex := t.TempDir(), strings.Repeat("1f3a", 16)
	dir := filepath.Join(home, "datasets", hex)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"sha256:" + hex: dir, hex: dir, "sha256:1f": dir, "1f3a": dir, dir: dir,
		"1f": "1f", "abcd": filepath.Join(home, "datasets", "abcd"), "sha256:": "sha256:", "sha256:../x": "sha256:../x", "data": "data",
	} {
		if got := datasetDir(home, name); got != want {
			t.Errorf("%s is looked for in %s, not in %s", name, got, want)
		}
	}
}
