// Package app is the only wiring: configuration becomes objects, objects become one
// handler, and Run serves it until it is told to stop. Tests start the same App as main.
package app

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"sync"

	"macaron/internal/backend"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/ids"
	"macaron/internal/obs"
)

// Owner is the tenant of everything until there are keys.
const Owner = "local"

// Options are what a caller may put in the place of the real thing.
type Options struct {
	Version   string            // shown in /healthz, metrics and records
	Log       *slog.Logger      // nil: standard error, as configured
	Clock     clock.Clock       // nil: the machine's
	Generator backend.Generator // nil: the configured engine or upstream
}

// App is one running Macaron: everything under one MACARON_HOME.
type App struct {
	cfg     config.Config
	opts    Options
	log     *slog.Logger
	clock   clock.Clock
	ids     *ids.Source
	metrics *obs.Metrics
	handler http.Handler

	addr    chan string // filled once Run listens
	closers []func() error
	closing sync.Once
	closed  error
}

// New builds everything from the configuration; the model loads in the background
// and /readyz tells when it is there. Close frees what New took.
func New(cfg config.Config, opts Options) (*App, error) {
	a := &App{cfg: cfg, opts: opts, log: opts.Log, clock: opts.Clock, addr: make(chan string, 1)}
	if a.log == nil {
		a.log = obs.NewLog(os.Stderr, cfg.Log.Level, cfg.Log.Format)
	}
	if a.clock == nil {
		a.clock = clock.System{}
	}
	if a.opts.Version == "" {
		a.opts.Version = "dev"
	}
	a.ids = ids.NewSource(a.clock, nil)
	a.metrics = obs.NewMetrics(a.opts.Version)
	a.handler = a.routes()
	return a, nil
}

// Handler serves every interface behind the one guard.
func (a *App) Handler() http.Handler { return a.handler }

// Close drains the background work within its deadline and frees everything, in
// reverse order of New. It may be called more than once.
func (a *App) Close() error {
	a.closing.Do(func() {
		for i := len(a.closers) - 1; i >= 0; i-- {
			if err := a.closers[i](); err != nil && a.closed == nil {
				a.closed = err
			}
		}
	})
	return a.closed
}

// Addr waits until Run listens and returns the address, or "" when ctx ends first.
func (a *App) Addr(ctx context.Context) string {
	select {
	case addr := <-a.addr:
		a.addr <- addr
		return addr
	case <-ctx.Done():
		return ""
	}
}
