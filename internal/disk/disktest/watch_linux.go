package disktest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Watched is a process whose calls pass through the test.
type Watched struct {
	cmd      *exec.Cmd
	dir      string
	listener int
	done     chan struct{}

	mu     sync.Mutex
	plan   Plan
	seen   []Call // that counted, since the plan
	struck []Call // that failed, since the plan
	halved bool   // a write was cut, and the next one fails
}

// Start starts a command of this test's own binary and watches what it does below a directory.
// The test's binary has to call Main. Whoever called Start waits for the command, and then
// for Close.
func Start(cmd *exec.Cmd, dir string, p Plan) (*Watched, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(pair[0])
	theirs := os.NewFile(uintptr(pair[1]), "socket")
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	// A signal between threads of the Go runtime would have the kernel ask again.
	cmd.Env = append(cmd.Env, launch+"=1", "GODEBUG=asyncpreemptoff=1")
	cmd.ExtraFiles = []*os.File{theirs}
	if err := errors.Join(cmd.Start(), theirs.Close()); err != nil {
		return nil, err
	}
	listener, err := receive(pair[0])
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the process gives no listener: %w", err), cmd.Process.Kill(), cmd.Wait())
	}
	w := &Watched{cmd: cmd, dir: dir, listener: listener, plan: p, done: make(chan struct{})}
	go w.serve()
	return w, nil
}

// receive takes the descriptor that the launcher sends.
func receive(socket int) (int, error) {
	room := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(socket, make([]byte, 1), room, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return -1, err
	}
	messages, err := unix.ParseSocketControlMessage(room[:n])
	if err != nil || len(messages) != 1 {
		return -1, errors.Join(err, errors.New("it ended before"))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return -1, err
	}
	return fds[0], nil
}

// Close waits until no thread of the process is left.
func (w *Watched) Close() error {
	<-w.done
	return unix.Close(w.listener)
}

// Plan changes what happens from now on.
func (w *Watched) Plan(p Plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.plan, w.seen, w.struck, w.halved = p, nil, nil, false
}

// Seen gives the calls that counted since the plan, and those among them that met a fault.
func (w *Watched) Seen() (all, struck []Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Call(nil), w.seen...), append([]Call(nil), w.struck...)
}

// serve answers every call until the process is gone.
func (w *Watched) serve() {
	defer close(w.done)
	for {
		ready := []unix.PollFd{{Fd: int32(w.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); errors.Is(err, unix.EINTR) {
			continue
		}
		if ready[0].Revents&unix.POLLIN == 0 { // no thread has the filter any more
			return
		}
		var n notice
		if err := ioctl(w.listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err != nil {
			continue // the caller went meanwhile
		}
		a := w.decide(&n)
		a.id = n.id
		_ = ioctl(w.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)) // so here
	}
}

var (
	goOn   = answer{flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	broken = answer{errno: -int32(unix.EIO)}
	full   = answer{errno: -int32(unix.ENOSPC)}
)

// decide answers a call by the plan.
func (w *Watched) decide(n *notice) answer {
	path, ours := inside(w.dir, n.file())
	if !ours {
		return goOn
	}
	c := Call{Name: calls[n.number].name, Path: path}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.plan.Of != nil && !w.plan.Of(c) {
		return goOn
	}
	w.seen = append(w.seen, c)
	at := len(w.seen)
	if w.plan.At == 0 || at < w.plan.At || at > w.plan.At && !w.plan.Stays && !w.halved {
		return goOn
	}
	w.struck = append(w.struck, c)
	return w.strike(n)
}

func (w *Watched) strike(n *notice) answer {
	switch w.plan.Fault {
	case Broken:
		return broken
	case Killed:
		_ = w.cmd.Process.Kill() // it may be dead already
		return broken
	case Torn:
		if !w.halved && calls[n.number].write {
			if done, err := n.half(); err == nil && done > 0 {
				w.halved = true
				return answer{value: int64(done)}
			}
		}
		w.halved = false
	}
	return full
}
