package app

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/ids"
	"macaron/internal/obs"
)

// meter counts what every listener counts.
type meter interface {
	Request(api string, status int, took time.Duration)
	Error(code string)
}

// front is what stands before every interface that this program serves: request ids, the
// log, the guard, and a stop that lets open answers finish.
type front struct {
	log     *slog.Logger
	clock   clock.Clock
	ids     *ids.Source
	meter   meter
	refuse  func(http.ResponseWriter, error) // writes an error in the interface's own shape
	level   *slog.LevelVar                   // of log; nil: the log is somebody else's
	stop    stopping
	door    atomic.Pointer[door] // who may come in
	tls     *tls.Config          // nil: plain
	arrival time.Duration        // longest for a body to come in
	most    int                  // connections at once; 0: no bound

	active  sync.WaitGroup // requests that are being served
	addr    chan string    // filled once it listens
	closers []func() error
	closing sync.Once
	closed  error
}

func (f *front) init(cfg config.Config, opts Options, m meter, refuse func(http.ResponseWriter, error)) {
	f.log, f.clock, f.meter, f.refuse = opts.Log, opts.Clock, m, refuse
	f.addr, f.arrival = make(chan string, 1), arrival
	f.stop.init(cfg.Stop, opts)
	f.door.Store(&door{})
	if f.log == nil {
		f.level = &slog.LevelVar{}
		f.level.Set(obs.Level(cfg.Log.Level))
		f.log = obs.NewLogAt(os.Stderr, f.level, cfg.Log.Format)
	}
	if f.clock == nil {
		f.clock = clock.System{}
	}
	f.ids = ids.NewSource(f.clock, nil)
}

func (f *front) onClose(fn func() error) { f.closers = append(f.closers, fn) }

// Close drains the background work within its deadline and frees everything, in
// reverse order of New. It may be called more than once.
func (f *front) Close() error {
	f.closing.Do(func() {
		begun := time.Now()
		for i := len(f.closers) - 1; i >= 0; i-- {
			if err := f.closers[i](); err != nil && f.closed == nil {
				f.closed = err
			}
		}
		f.stop.over()
		f.log.Info("closed", "ms", time.Since(begun).Milliseconds())
	})
	return f.closed
}

// Addr waits until it listens and returns the address, or "" when ctx ends first.
func (f *front) Addr(ctx context.Context) string {
	select {
	case addr := <-f.addr:
		f.addr <- addr
		return addr
	case <-ctx.Done():
		return ""
	}
}
