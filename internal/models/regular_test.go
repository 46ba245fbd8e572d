//go:build unix

package models

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"macaron/internal/errs"
)

// A pipe without a writer would be waited for without end, a device read without end.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.gguf")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero", t.TempDir()} {
		if _, err := ByPath(path); errs.CodeOf(err) != errs.ModelNotFound {
			t.Errorf("%s: %v", path, err)
		}
		refused(t, newFetcher(t), Model{Name: "m", Sources: []string{"file:" + path}}, errs.SourceUnreachable)
	}
}

// Where no source needs a network, the advice is not to check it.
func TestAMissingFileIsNoMatterOfTheNetwork(t *testing.T) {
	absent := "file:" + filepath.Join(t.TempDir(), "absent.gguf")
	if e := refused(t, newFetcher(t), Model{Name: "m", Sources: []string{absent}}, errs.SourceUnreachable); e.Next != "check the path: it must be a file that this user may read" {
		t.Error(e.Next)
	}
}
