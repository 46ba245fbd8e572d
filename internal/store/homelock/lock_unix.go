//go:build unix

package homelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock reports whether the file's advisory lock is now ours.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
