package models

import (
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/engine/weights/hf"
	"macaron/internal/errs"
)

// A directory with a configuration and weights is a model; its digest is that of what is
// in them, and resolving needs no store.
func TestADirectoryIsAModel(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "Small-Model")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{hf.ConfigFile: `{}`, hf.WeightFile: "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := hf.Digest(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := newFetcher(t).Resolve(t.Context(), dir+"/")
	if err != nil || got != (Local{"small-model", dir + "/", want}) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.Remove(filepath.Join(dir, hf.WeightFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := ByPath(dir); errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("without weights: %v", err)
	}
}
