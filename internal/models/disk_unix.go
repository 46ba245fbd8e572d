//go:build unix

package models

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"macaron/internal/errs"
)

// freeBytes is the space that an ordinary user can still fill at a path.
func freeBytes(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}

// tryLock takes the exclusive lock of an open file, without waiting.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// storage codes a failure of the disk: full is told apart, since the person can help it.
func storage(err error, message string) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return errs.Wrap(errs.StorageFull, err, message+": no space is left", "free space on the disk of MACARON_HOME, or set MACARON_HOME to a directory on another disk")
	}
	return errs.Wrap(errs.StorageFailed, err, message, "check that this user may write there and that the disk is sound")
}
