// Package sse reads and writes server-sent events, the transport of every stream:
// a writer that flushes, keeps quiet lines alive, gives slow readers a deadline and
// ends exactly once; and a reader that is bounded in memory.
package sse

import (
	"bytes"
	"errors"
	"net/http"
	"sync"
	"time"
)

// Options are the writer's times; zero takes the default.
type Options struct {
	Heartbeat time.Duration // a pulse after so long a silence; default 10 s
	Pulse     []byte        // bytes of an event that means nothing; default a comment
	Deadline  time.Duration // longest that one write may block; default 30 s
}

// ErrEnded is returned for anything sent after the end.
var ErrEnded = errors.New("sse: the stream has ended")

// Writer writes one stream. It is safe for concurrent use; Close must be called.
type Writer struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
	opts    Options
	started bool
	ended   bool
	err     error // the first write error; the client is gone
	last    time.Time
	until   time.Time   // the deadline that is set
	held    bool        // what is written is not flushed
	late    *time.Timer // flushes what was held for too long
	waiting bool        // something is written and not flushed
	stop    chan struct{}
	done    chan struct{}
}

// NewWriter prepares a stream; nothing is sent, and the status can still be an
// error's, until Start or the first Send.
func NewWriter(w http.ResponseWriter, opts Options) *Writer {
	if opts.Heartbeat == 0 {
		opts.Heartbeat = 10 * time.Second
	}
	if opts.Deadline == 0 {
		opts.Deadline = 30 * time.Second
	}
	if opts.Pulse == nil {
		opts.Pulse = []byte(": keepalive\n\n")
	}
	return &Writer{w: w, control: http.NewResponseController(w), opts: opts}
}

// Started reports whether the status line is out.
func (w *Writer) Started() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.started
}

// Start sends status 200 and the headers set so far, and begins the heartbeat.
func (w *Writer) Start() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.start()
}

func (w *Writer) start() error {
	if w.started || w.err != nil {
		return w.err
	}
	h := w.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.started = true
	w.w.WriteHeader(http.StatusOK)
	w.stop, w.done = make(chan struct{}), make(chan struct{})
	go w.beat(w.stop, w.done)
	return w.write(nil)
}

// Send writes one event; name may be empty. Data is split at line breaks as the
// format asks.
func (w *Writer) Send(name string, data []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return ErrEnded
	}
	if err := w.start(); err != nil {
		return err
	}
	return w.write(frame(name, data))
}

// End writes the terminal event; only the first call writes, so that an error that
// comes late cannot follow an end.
func (w *Writer) End(name string, data []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return ErrEnded
	}
	if err := w.start(); err != nil {
		return err
	}
	w.ended, w.held = true, false
	return w.write(frame(name, data))
}

// lateness is the longest that Together holds anything back.
const lateness = 2 * time.Millisecond

// Together sends what send sends in one piece, and with what comes next if there is more to
// come at once: every flush is a packet and a wake-up of the client.
func (w *Writer) Together(more bool, send func() error) error {
	w.mu.Lock()
	w.held = true
	w.mu.Unlock()
	err := send()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = false
	if w.waiting && !more {
		return errors.Join(err, w.flush())
	}
	return err
}

// overdue flushes what was held back, for what was to come at once did not come.
func (w *Writer) overdue() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting {
		_ = w.flush() // kept in w.err for the next Send
	}
}

// Close stops the heartbeat and waits for it. It sends nothing.
func (w *Writer) Close() {
	w.mu.Lock()
	w.ended = true
	if w.waiting = false; w.late != nil {
		w.late.Stop()
	}
	stop, done := w.stop, w.done
	w.stop = nil
	w.mu.Unlock()
	if stop != nil {
		close(stop)
		<-done
	}
}

func (w *Writer) beat(stop <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(w.opts.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			w.mu.Lock()
			if !w.ended && w.err == nil && time.Since(w.last) >= w.opts.Heartbeat/2 {
				_ = w.write(w.opts.Pulse) // kept in w.err for the next Send
			}
			w.mu.Unlock()
		}
	}
}

// write sends bytes with a deadline and flushes, unless they are held back; the caller holds
// the lock.
func (w *Writer) write(b []byte) error {
	if w.err != nil {
		return w.err
	}
	// A deadline that is nearly whole yet is left: setting it takes a lock of the poller.
	if now := time.Now(); w.until.Sub(now) < w.opts.Deadline-w.opts.Deadline/16 {
		w.until = now.Add(w.opts.Deadline)
		if err := w.control.SetWriteDeadline(w.until); err != nil && !errors.Is(err, http.ErrNotSupported) {
			w.err = err
			return err
		}
	}
	if len(b) > 0 {
		if _, err := w.w.Write(b); err != nil {
			w.err = err
			return err
		}
	}
	if !w.held {
		return w.flush()
	}
	switch {
	case w.late == nil:
		w.late = time.AfterFunc(lateness, w.overdue)
	case !w.waiting:
		w.late.Reset(lateness)
	}
	w.waiting = true
	return nil
}

func (w *Writer) flush() error {
	if w.waiting = false; w.late != nil {
		w.late.Stop()
	}
	if w.err != nil {
		return w.err
	}
	if err := w.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		w.err = err
		return err
	}
	w.last = time.Now()
	return nil
}

func frame(name string, data []byte) []byte {
	b := make([]byte, 0, len(name)+len(data)+32)
	if name != "" {
		b = append(append(append(b, "event: "...), name...), '\n')
	}
	for line := range bytes.Lines(data) {
		b = append(append(append(b, "data: "...), bytes.TrimRight(line, "\r\n")...), '\n')
	}
	if len(data) == 0 {
		b = append(b, "data:\n"...)
	}
	return append(b, '\n')
}
