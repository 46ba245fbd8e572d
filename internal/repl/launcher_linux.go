package repl

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"macaron/internal/errs"
)

// stage is where the launcher of root binds what a sandbox mounts. It exists as an empty
// directory for everybody else.
const stage = "/run/macaron"

// launcher starts processes from one thread that never ends: the kernel takes the death
// of a thread for the death of the parent, and die-with-parent would kill the sandbox of
// a thread that the Go runtime gives up.
//
// As root the thread has a mount namespace of its own. There it binds a directory that
// the sandbox's user could not reach, such as one below /root, to a place that it can.
type launcher struct {
	jobs    chan func()
	private bool
}

func newLauncher(private bool) (*launcher, error) {
	l := &launcher{jobs: make(chan func()), private: private}
	ready := make(chan error, 1)
	go l.loop(ready)
	return l, <-ready
}

func (l *launcher) loop(ready chan<- error) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
	var err error
	if l.private {
		err = privateMounts()
	}
	ready <- err
	for job := range l.jobs {
		job()
	}
}

func (l *launcher) close() { close(l.jobs) }

func privateMounts() error {
	if err := os.MkdirAll(stage, 0o711); err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("a mount namespace: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	return unix.Mount("macaron", stage, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0711,size=1m")
}

// do runs f on the thread and waits for it.
func (l *launcher) do(f func() error) error {
	done := make(chan error, 1)
	l.jobs <- func() { done <- f() }
	return <-done
}

// place makes binds reachable for the sandbox's user and says where; only within do. The
// places may go when the sandbox has its own mount namespace, which is a copy.
func (l *launcher) place(binds []Bind) (placed []Bind, undo func(), err error) {
	var dirs []string
	undo = func() {
		for _, d := range dirs {
			_ = unix.Unmount(d, unix.MNT_DETACH) // of this thread's namespace alone
		}
	}
	for i, b := range binds {
		from := b.From
		if from, err = realPath(from); err == nil && l.private {
			if from, err = bindAt(b.From, i); err == nil {
				dirs = append(dirs, from)
			}
		}
		if err != nil {
			undo()
			return nil, func() {}, err
		}
		placed = append(placed, Bind{From: from, To: b.To, Writable: b.Writable})
	}
	return placed, undo, nil
}

// realPath refuses a path with a symbolic link: code of a sandbox that may write a part
// of the path could lead the mount elsewhere.
func realPath(path string) (string, error) {
	fd, err := openReal(path)
	if err != nil {
		return "", err
	}
	return path, unix.Close(fd)
}

func openReal(path string) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
	switch err {
	case nil:
		return fd, nil
	case unix.ELOOP:
		return 0, errs.Newf(errs.InvalidRequest, "%s leads through a symbolic link; a sandbox binds real paths only", path)
	}
	return 0, errs.Wrap(errs.InvalidRequest, err, path+" cannot be bound into the sandbox: "+err.Error(), "")
}

// bindAt mounts what is at path, opened without following links, over the place of that
// number. Places stay and are used again: removing one would take the mount from a
// sandbox that has not yet moved it to where it belongs.
func bindAt(path string, number int) (place string, err error) {
	fd, err := openReal(path)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd) // O_PATH: nothing to lose
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return "", err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		place = fmt.Sprintf("%s/dir-%d", stage, number)
		err = os.MkdirAll(place, 0o711)
	} else {
		place = fmt.Sprintf("%s/file-%d", stage, number)
		err = os.WriteFile(place, nil, 0o644)
	}
	if err == nil {
		err = unix.Mount(fmt.Sprintf("/proc/self/fd/%d", fd), place, "", unix.MS_BIND|unix.MS_REC, "")
	}
	if err != nil {
		return "", fmt.Errorf("binding %s: %w", path, err)
	}
	return place, nil
}
