// Package testmodel finds the default model for tests that run it.
package testmodel

import (
	"os"
	"testing"
)

// Path is the default model's file; the test fails when it is not there.
func Path(t testing.TB) string {
	t.Helper()
	path := os.Getenv("MACARON_MODEL")
	if path == "" {
		t.Fatal("set MACARON_MODEL to the default model's GGUF file")
	}
	return path
}
