// Package disk holds what writing files safely needs: free space, locks, atomic
// replacement, and failures told so that a full disk is seen as one.
package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"macaron/internal/errs"
)

const fullAdvice = "free space on that disk, or set MACARON_HOME to a directory on another disk"

// Error codes a failure of reading or writing files: errs.StorageFull when there is no
// space left, else errs.StorageFailed. A nil cause gives nil.
func Error(err error, message string) error {
	if err == nil {
		return nil
	}
	if full(err) {
		return errs.Wrap(errs.StorageFull, err, message+": no space is left", fullAdvice)
	}
	return errs.Wrap(errs.StorageFailed, err, message, "check that this user may read and write there, and that the disk is sound")
}

// faults are errors of the disk or of this machine's limits, whatever was asked for.
var faults = []error{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.ESTALE, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM}

// OpenError codes a failure of opening what somebody named: errs.NotFound, with what to do
// next, when it is not there to be read; as Error does when that cannot be told. A nil cause
// gives nil.
func OpenError(err error, message, next string) error {
	for _, f := range faults {
		if errors.Is(err, f) {
			return Error(err, message)
		}
	}
	return errs.Wrap(errs.NotFound, err, message, next)
}

// Full is the refusal of a write that would not fit.
func Full(message string) error { return errs.New(errs.StorageFull, message, fullAdvice) }

// Replace writes a whole file so that it is seen either old or new, also after power
// loss. The name may be a symbolic link, which stays. The mode is that of the old file, or perm.
func Replace(path string, b []byte, perm os.FileMode) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil {
		perm = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return Error(err, path+" cannot be written")
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Chmod(perm), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return Error(errors.Join(err, os.Remove(f.Name())), path+" cannot be written")
	}
	return Error(SyncDir(filepath.Dir(path)), path+" cannot be written")
}

// SyncDir makes the names in a directory durable.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
