//go:build unix

package homelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock reports whether the file's advisory lock is now ours.
func tryLock(f *os.File) (bool, error) { return try(f, unix.LOCK_EX) }

// tryShare takes the lock together with others that only look; false: somebody holds it for himself.
func tryShare(f *os.File) (bool, error) { return try(f, unix.LOCK_SH) }

// unlock gives the lock back at once. Closing the file would leave it to a child that another thread has
// just made, until that runs its program.
func unlock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }

func try(f *os.File, how int) (bool, error) {
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
