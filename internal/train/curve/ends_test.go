package curve

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheEndsOfAFileThatGrowsAndIsCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	e := NewEnds(path)
	look := func(first, last Line) {
		t.Helper()
		gotFirst, gotLast, err := e.Look()
		if d := cmp.Diff([]Line{first, last}, []Line{gotFirst, gotLast}); d != "" || err != nil {
			t.Errorf("%v %s", err, d)
		}
	}
	look(nil, nil)
	for step := 1; step <= 2500; step++ {
		if err := Append(path, Line{"step": float64(step)}); err != nil {
			t.Fatal(err)
		}
	}
	look(Line{"step": 1}, Line{"step": 2500})
	look(Line{"step": 1}, Line{"step": 2500})
	if err := os.WriteFile(path, []byte("{\"step\":7}\n{\"step\":8}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	look(Line{"step": 7}, Line{"step": 8})
}
