package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

// Whatever is made under a name for the moment is locked while it is made. What lies there
// without a lock was left by a process that ended too early.

// clearLeft removes what is left under a name. What another process is making stays, and is an
// error.
func clearLeft(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && (info.IsDir() || info.Mode().IsRegular()) {
		var f *os.File
		if f, err = os.Open(path); err == nil {
			defer f.Close() // read-only
			if err = hold(f); errs.CodeOf(err) == errs.HomeLocked {
				return err
			}
		}
	}
	if err == nil {
		err = os.RemoveAll(path)
	}
	return disk.Error(err, path+" is left of an earlier command and cannot be removed")
}

// hold takes the lock of what is made; it ends when the file is closed.
func hold(f *os.File) error {
	free, err := disk.TryLock(f)
	if err == nil && !free {
		return errs.New(errs.HomeLocked, f.Name()+" is being made by another process", "wait for it, or give another name")
	}
	return disk.Error(err, f.Name()+" cannot be locked")
}

// holdDir is hold for a directory that was just made.
func holdDir(path string) (*os.File, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, disk.Error(err, path+" cannot be opened")
	}
	if err := hold(d); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// scratch makes a directory for the copies of one backup, in the home, so that they are as
// safe as the home. Those of backups that were cut short go.
func scratch(home string) (dir string, held *os.File, err error) {
	const pattern = ".backup-*"
	old, err := filepath.Glob(filepath.Join(home, pattern))
	if err != nil {
		return "", nil, disk.Error(err, home+" cannot be read")
	}
	for _, path := range old {
		if err := clearLeft(path); err != nil && errs.CodeOf(err) != errs.HomeLocked {
			return "", nil, err
		}
	}
	if dir, err = os.MkdirTemp(home, pattern); err != nil {
		return "", nil, disk.Error(err, "the log cannot be copied")
	}
	held, err = holdDir(dir)
	return dir, held, err
}
