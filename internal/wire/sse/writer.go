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
	w.ended = true
	return w.write(frame(name, data))
}

// Close stops the heartbeat and waits for it. It sends nothing.
func (w *Writer) Close() {
	w.mu.Lock()
	w.ended = true
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

// write sends bytes with a deadline and flushes; the caller holds the lock.
func (w *Writer) write(b []byte) error {
	if w.err != nil {
		return w.err
	}
	if err := w.control.SetWriteDeadline(time.Now().Add(w.opts.Deadline)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		w.err = err
		return err
	}
	if len(b) > 0 {
		if _, err := w.w.Write(b); err != nil {
			w.err = err
			return err
		}
	}
	if err := w.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		w.err = err
		return err
	}
	w.last = time.Now()
	return nil
}

func frame(name string, data []byte) []byte {
	var b bytes.Buffer
	if name != "" {
		b.WriteString("event: " + name + "\n")
	}
	for line := range bytes.Lines(data) {
		b.WriteString("data: ")
		b.Write(bytes.TrimRight(line, "\r\n"))
		b.WriteByte('\n')
	}
	if len(data) == 0 {
		b.WriteString("data:\n")
	}
	b.WriteByte('\n')
	return b.Bytes()
}
