package testvectors_test

import (
	"os"
	"testing"

	"macaron/internal/testvectors"
)

func TestManifestNamesEachFileOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range testvectors.Files() {
		if seen[f.Name()] {
			t.Errorf("two files are named %s", f.Name())
		}
		seen[f.Name()] = true
		if _, err := os.Stat(testvectors.Path(t, f.Name())); err != nil {
			t.Error(err)
		}
	}
	if len(seen) < 90 {
		t.Errorf("the manifest has only %d files", len(seen))
	}
}
