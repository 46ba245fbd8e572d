package repl

import (
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
)

// output gathers what a sandbox writes to its standard output and error: the first
// bytes in memory, all of it in an artifact once there is more.
type output struct {
	mu      sync.Mutex
	pipe    *os.File
	limit   int
	head    []byte
	total   int64
	most    int64                          // bytes that an artifact may have
	open    func() (io.WriteCloser, error) // makes the artifact; nil: the rest is dropped
	spill   io.WriteCloser
	failed  bool // the artifact could not be made or written
	drained chan struct{}
}

func newOutput() *output { return &output{drained: make(chan struct{})} }

// begin forgets what came before, so that the next take has one cell's output.
func (o *output) begin(limit int, most int64, open func() (io.WriteCloser, error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.limit, o.most, o.open = limit, most, open
	o.head, o.total, o.spill, o.failed = nil, 0, nil, false
}

// read gathers from the pipe until its end, in the background. The pipe is always read,
// so that a sandbox never waits for its output to be wanted.
func (o *output) read(pipe *os.File) {
	o.pipe = pipe
	go func() {
		defer close(o.drained)
		raw, err := pipe.SyscallConn()
		if err != nil {
			return
		}
		for end := false; !end; {
			err = raw.Read(func(fd uintptr) bool {
				more, closed := o.some(fd)
				end = closed
				return more || closed // else wait until there is something
			})
			if err != nil {
				return // closed
			}
		}
	}()
}

// some reads once without waiting.
func (o *output) some(fd uintptr) (more, closed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var buf [32 << 10]byte
	n, err := syscall.Read(int(fd), buf[:])
	switch {
	case err == syscall.EAGAIN || err == syscall.EINTR:
		return err == syscall.EINTR, false
	case err != nil || n == 0:
		return false, true
	}
	o.add(buf[:n])
	return true, false
}

func (o *output) add(b []byte) {
	o.total += int64(len(b))
	if room := o.limit - len(o.head); room > 0 && o.spill == nil {
		if len(b) <= room {
			o.head = append(o.head, b...)
			return
		}
		o.head = append(o.head, b[:room]...)
		o.startSpill()
		b = b[room:]
	} else if o.spill == nil {
		o.startSpill()
	}
	if room := o.most - (o.total - int64(len(b))); o.spill != nil && room > 0 {
		if _, err := o.spill.Write(b[:min(int64(len(b)), room)]); err != nil {
			o.failed = true
		}
	}
}

// startSpill makes the artifact with what is in memory at its beginning.
func (o *output) startSpill() {
	if o.open == nil || o.failed {
		return
	}
	w, err := o.open()
	if err == nil {
		_, err = w.Write(o.head)
	}
	o.spill, o.failed = w, err != nil
}

// take gives what came since begin, everything that has been written included.
func (o *output) take() (text string, truncated, artifact bool) {
	if raw, err := o.pipe.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { // closed: it has all been read
			for more := true; more; {
				more, _ = o.some(fd)
			}
		})
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spill != nil {
		o.failed = o.spill.Close() != nil || o.failed
		artifact = !o.failed
	}
	text = strings.ToValidUTF8(string(o.head), "�")
	truncated = o.total > int64(len(o.head))
	o.head, o.spill, o.open = nil, nil, nil
	return text, truncated, artifact
}

// close waits for the rest; nobody writes any more.
func (o *output) close() {
	<-o.drained
	_ = o.pipe.Close() // only read from
}
