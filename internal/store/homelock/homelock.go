// Package homelock keeps a second process out of one MACARON_HOME.
package homelock

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"macaron/internal/errs"
)

// Lock is a held lock. It ends with Close or with the process, however that ends.
type Lock struct{ file *os.File }

// Acquire takes the lock of a home directory, which exists, without waiting.
// errs.HomeLocked means that another process, or another part of this one, has it.
func Acquire(home string) (*Lock, error) {
	path := filepath.Join(home, "lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, errs.Wrap(errs.StorageFailed, err, "the lock file "+path+" cannot be opened", "check that MACARON_HOME exists and that this user may write there")
	}
	taken, err := tryLock(f)
	if err != nil {
		f.Close()
		return nil, errs.Wrap(errs.StorageFailed, err, "the lock file "+path+" cannot be locked", "put MACARON_HOME on a local disk")
	}
	if !taken {
		who := holder(f)
		f.Close()
		return nil, errs.New(errs.HomeLocked, "another process"+who+" uses "+home, "end it, say with --listen where it serves, or give this one another MACARON_HOME")
	}
	if err := note(f); err != nil {
		f.Close()
		return nil, errs.Wrap(errs.StorageFailed, err, "the lock file "+path+" cannot be written", "free space on the disk of MACARON_HOME")
	}
	return &Lock{f}, nil
}

// Close gives the lock back. The file stays, since another process may have it open.
func (l *Lock) Close() error { return l.file.Close() }

// note leaves the process id for the message of whoever comes second.
func note(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

func holder(f *os.File) string {
	var text [24]byte
	n, _ := f.ReadAt(text[:], 0) // a file too short to say who is no error
	if pid := strings.TrimSpace(string(text[:n])); pid != "" {
		return " (" + pid + ")"
	}
	return ""
}
