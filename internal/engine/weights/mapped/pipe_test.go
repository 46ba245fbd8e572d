//go:build unix

package mapped_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"macaron/internal/engine/weights/mapped"
)

// A pipe is refused, not waited for.
func TestAPipeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := mapped.File(path); err == nil {
		t.Error("a pipe was mapped")
	}
}
