// Package homelock keeps a second process out of one MACARON_HOME.
package homelock

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"macaron/internal/disk"
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
		return nil, disk.Error(err, "the lock file "+path+" cannot be opened")
	}
	taken, err := take(f)
	if err != nil {
		f.Close()
		return nil, errs.Wrap(errs.StorageFailed, err, "the lock file "+path+" cannot be locked", "put MACARON_HOME on a local disk")
	}
	if !taken {
		who := holder(f)
		f.Close()
		return nil, errs.New(errs.HomeLocked, "another process"+who+" uses "+home, "end it, or give this one another MACARON_HOME")
	}
	if err := tell(f, ""); err != nil {
		f.Close()
		return nil, disk.Error(err, "the lock file "+path+" cannot be written")
	}
	return &Lock{f}, nil
}

// looking is the longest that whoever only looks at a lock keeps others from taking it.
const looking = 10 * time.Second

// take takes the lock, and waits for those who only look at it, which is for a moment.
func take(f *os.File) (bool, error) {
	for end := time.Now().Add(looking); ; time.Sleep(time.Millisecond) {
		if taken, err := tryLock(f); taken || err != nil {
			return taken, err
		}
		shared, err := tryShare(f)
		if shared {
			unlock(f)
		}
		if !shared || err != nil || time.Now().After(end) {
			return false, err
		}
	}
}

// Serve has the holder on record as serving at an address, for other programs of this user.
func (l *Lock) Serve(address string) error {
	return tell(l.file, address)
}

// Serving gives the address at which the process that holds the home serves; "" if none
// holds it, or it serves nowhere. What a process has left that has ended is not believed:
// somebody else may listen there by now.
func Serving(home string) string {
	f, err := os.OpenFile(filepath.Join(home, "lock"), os.O_RDWR, 0) // some systems lock only what may be written
	if err != nil {
		return ""
	}
	defer f.Close()
	var text [512]byte
	n, _ := f.ReadAt(text[:], 0) // shorter than that
	lines := strings.SplitN(string(text[:n]), "\n", 3)
	if len(lines) < 3 {
		return ""
	}
	if free, err := tryShare(f); err != nil || free { // shared, so that of two who look none takes the other for the holder
		unlock(f)
		return ""
	}
	return lines[1]
}

// Close gives the lock back. The file stays, since another process may have it open.
func (l *Lock) Close() error {
	unlock(l.file)
	return l.file.Close()
}

// tell leaves the process id for the message of whoever comes second, and the address.
func tell(f *os.File, address string) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(fmt.Appendf(nil, "%d\n%s\n", os.Getpid(), address), 0)
	return err
}

func holder(f *os.File) string {
	var text [24]byte
	n, _ := f.ReadAt(text[:], 0) // a file too short to say who is no error
	if pid, _, _ := strings.Cut(string(text[:n]), "\n"); pid != "" {
		return " (" + pid + ")"
	}
	return ""
}
