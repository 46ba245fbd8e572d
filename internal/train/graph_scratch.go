package train

import (
	"errors"
	"os"
	"path/filepath"

	"macaron/internal/disk"
)

// scratch is a file that memory goes to. Nothing of it is left when it is closed, nor after
// the end of the process.
type scratch interface {
	ReadAt(b []byte, at int64) (int, error)
	WriteAt(b []byte, at int64) (int, error)
	Close() error
}

const scratchPattern = "training-scratch-*"

// unlinked is a file without a name, where the system has such; else it is removed when it is
// closed.
type unlinked struct {
	*os.File
	named bool
}

func newScratch(dir string) (scratch, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, disk.Error(err, dir+" cannot be made")
	}
	f, err := os.CreateTemp(dir, scratchPattern)
	if err != nil {
		return nil, disk.Error(err, "no file can be made in "+dir)
	}
	return &unlinked{f, os.Remove(f.Name()) != nil}, nil
}

func (u *unlinked) Close() error {
	err := u.File.Close()
	if u.named {
		err = errors.Join(err, os.Remove(u.Name()))
	}
	return disk.Error(err, u.Name()+" cannot be removed")
}

// sweep removes what a process left that was killed where open files have names. Files of
// one that runs cannot be removed there.
func sweep(dir string) {
	old, _ := filepath.Glob(filepath.Join(dir, scratchPattern)) // the pattern is sound
	for _, name := range old {
		_ = os.Remove(name) // in use by another process
	}
}
