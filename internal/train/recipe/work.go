package recipe

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/train"
	"macaron/internal/train/curve"
)

// lockFile is in the work directory of every run; who trains has its lock.
const lockFile = "lock"

// Metrics is the file of the run's metrics, in its work directory.
func (r *Recipe) Metrics() string { return filepath.Join(r.path(r.Work), curve.File) }

// claim makes the work directory and takes it, until the file is closed: two processes that
// train one recipe would remove each other's checkpoints.
func (r *Recipe) claim() (*os.File, error) {
	work := r.path(r.Work)
	if err := os.MkdirAll(work, 0o700); err != nil {
		return nil, disk.Error(err, work+" cannot be made")
	}
	f, err := os.OpenFile(filepath.Join(work, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, disk.Error(err, work+" cannot be written")
	}
	free, err := disk.TryLock(f)
	if err == nil && !free { // Trains has it for a moment
		time.Sleep(50 * time.Millisecond)
		free, err = disk.TryLock(f)
	}
	if err != nil {
		return nil, errors.Join(disk.Error(err, work+" cannot be locked"), f.Close())
	}
	if !free {
		return nil, errors.Join(errs.New(errs.InvalidRequest, "another process trains in "+work, "wait for it, or give another work"), f.Close())
	}
	return f, nil
}

// Trains tells whether a process trains in a work directory.
func Trains(work string) bool {
	f, err := os.Open(filepath.Join(work, lockFile))
	if err != nil {
		return false
	}
	defer f.Close() // which gives it back
	free, err := disk.TryLock(f)
	return err == nil && !free
}

// apart refuses a work directory that would make the directory of the adapter, or be in its way.
func (r *Recipe) apart() error {
	rel, err := filepath.Rel(r.path(r.Out), r.path(r.Work))
	if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return errs.New(errs.FormatInvalid, "the recipe's work is its out, or in it", "use a directory beside out")
	}
	return nil
}

// clear removes what an earlier run has left in a work directory, and nothing else: the
// directory may have other files of its owner.
func clear(work string) error {
	all, err := os.ReadDir(work)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return disk.Error(err, work+" cannot be read")
	}
	for _, f := range all {
		if f.Name() != curve.File && !train.IsKept(f.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(work, f.Name())); err != nil {
			return disk.Error(err, filepath.Join(work, f.Name())+" cannot be removed")
		}
	}
	return nil
}
