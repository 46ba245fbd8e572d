package repl

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"

	"macaron/internal/repl/refusal"
)

// entry runs inside, before the driver or a command: it installs the filter that names.
//
//go:embed enter.py
var entry string

// Refused calls are answered at full speed in a burst, then one in each gap: code that
// makes them without end costs itself time, not this process.
const (
	refusedBurst = 1000
	refusedGap   = 200 * time.Microsecond
)

// refusals refuses the system calls of one sandbox that its filter hands out, and counts
// them by name. It never looks at more than the number of a call and never lets one pass.
// When this process is gone the kernel fails them with ENOSYS.
type refusals struct {
	host  *net.UnixConn // to the sandbox, until the listener has come
	table *arch.Info    // of this processor
	done  chan struct{} // closed when nobody can call any more

	mu       sync.Mutex
	listener *os.File
	closed   bool
	counts   Refusals
	due      time.Time // when the next answer may be given, less the burst
}

// newRefusals gives the sandbox's end of the socket too, with the filter on its way.
func newRefusals(filter []byte) (*refusals, *os.File, error) {
	table, err := arch.GetInfo("")
	if err != nil {
		return nil, nil, err
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "refusals"), os.NewFile(uintptr(fds[1]), "refusals inside")
	defer ours.Close() // FileConn has a copy
	conn, err := net.FileConn(ours)
	if err == nil {
		_, err = conn.Write(append(binary.NativeEndian.AppendUint32(nil, unix.SYS_SECCOMP), filter...))
	}
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	r := &refusals{host: conn.(*net.UnixConn), table: table, done: make(chan struct{}), counts: Refusals{}}
	go r.serve()
	return r, theirs, nil
}

// serve waits for the listener and then for calls, until no process of the sandbox is left.
func (r *refusals) serve() {
	defer close(r.done)
	f, err := r.accept()
	if err != nil {
		return // the sandbox did not begin: whoever starts it says so
	}
	defer f.Close() // read to its end
	raw, err := f.SyscallConn()
	for end := false; err == nil && !end; {
		err = raw.Read(func(fd uintptr) bool {
			var more bool
			more, end = r.next(int(fd))
			return more || end
		})
	}
}

// accept takes the listener that enter.py sends.
func (r *refusals) accept() (*os.File, error) {
	defer func() { _ = r.host.Close() }() // one message is all
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := r.host.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return nil, err
	}
	list, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(list) != 1 {
		return nil, errors.Join(err, errors.New("no listener came"))
	}
	fds, err := unix.ParseUnixRights(&list[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(err, errors.New("no listener came"))
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, errors.Join(err, unix.Close(fds[0]))
	}
	f := os.NewFile(uintptr(fds[0]), "refused system calls")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener = f; r.closed {
		return nil, errors.Join(os.ErrClosed, f.Close())
	}
	return f, nil
}

// next answers one call, if one waits. A call that poll has seen is there or has been, so
// that Receive does not block.
func (r *refusals) next(fd int) (more, end bool) {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if n, err := unix.Poll(poll, 0); err == unix.EINTR {
		return true, false
	} else if err != nil {
		return false, true
	} else if n == 0 {
		return false, false
	}
	if poll[0].Revents&unix.POLLIN == 0 {
		return false, true // hung up: no process is left
	}
	c, err := refusal.Receive(fd)
	if err != nil {
		gone := errors.Is(err, unix.ENOENT)
		return gone, !gone
	}
	time.Sleep(r.count(c))
	err = refusal.Refuse(fd, c, failure(r.table, c))
	return true, err != nil && !errors.Is(err, unix.ENOENT) // whoever was killed meanwhile needs no answer
}

// count adds a call before it is answered, so that whoever has its answer finds it
// counted, and says how long the answer has to wait.
func (r *refusals) count(c refusal.Call) time.Duration {
	name := callName(r.table, c)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[name]++
	now := time.Now()
	if full := now.Add(-refusedBurst * refusedGap); r.due.Before(full) {
		r.due = full
	}
	r.due = r.due.Add(refusedGap)
	return r.due.Sub(now)
}

// take gives the counts since the last time; nil if nothing was refused.
func (r *refusals) take() Refusals {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.counts) == 0 {
		return nil
	}
	counts := r.counts
	r.counts = Refusals{}
	return counts
}

// close ends serve, once the sandbox has ended or never began, and waits for it.
func (r *refusals) close() {
	if r == nil {
		return
	}
	_ = r.host.Close() // closed twice is closed
	r.mu.Lock()
	r.closed = true
	listener := r.listener
	r.mu.Unlock()
	if listener != nil {
		_ = listener.Close() // the same
	}
	<-r.done
}
