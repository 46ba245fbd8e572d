// Package testmodel finds the default model for tests that run it. Such tests fail,
// never skip, when the model has not been fetched.
package testmodel

import (
	"testing"

	"macaron/internal/config"
	"macaron/internal/models"
)

// Path is the path of the default model's verified file: the one that MACARON_MODEL
// names if it is set, else the one in the user's store.
func Path(t testing.TB) string {
	t.Helper()
	c, err := config.Load(nil)
	if err != nil {
		t.Fatalf("the configuration of this machine cannot be read: %v", err)
	}
	s, err := models.Open(c.Home)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // only lookups were made
	want, _ := models.Known(models.Default)
	if c.Model != models.Default {
		f := models.Fetcher{Store: s}
		local, err := f.Resolve(t.Context(), c.Model)
		if err != nil || local.Digest != want.Digest {
			t.Fatalf("MACARON_MODEL is %s, which is not the default model's file (%v); unset it and run make model", c.Model, err)
		}
		return local.Path
	}
	path, err := s.Has(want.Digest)
	if err != nil {
		t.Fatalf("the default model is not in %s: run make model (%v)", s.Dir(), err)
	}
	return path
}
