// Package app is the only wiring: configuration becomes objects, objects become one
// handler, and Run serves it until it is told to stop. Tests start the same App as main.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"macaron/internal/auth"
	"macaron/internal/backend"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/ids"
	"macaron/internal/limits"
	"macaron/internal/mcp"
	forge "macaron/internal/mindforge/serve"
	revisions "macaron/internal/mint/catalogue"
	"macaron/internal/mint/filter"
	"macaron/internal/models"
	"macaron/internal/money"
	"macaron/internal/obs"
	"macaron/internal/retention"
	"macaron/internal/session"
	"macaron/internal/store/homelock"
	"macaron/internal/summary"
	"macaron/internal/turn"
	"macaron/internal/wire/sse"
)

// Options are what a caller may put in the place of the real thing.
type Options struct {
	Version   string            // shown in /healthz, metrics and records
	Log       *slog.Logger      // nil: standard error, as configured
	Clock     clock.Clock       // nil: the machine's
	Generator backend.Generator // nil: the configured engine or upstream
	Model     models.Local      // a model file that the caller has verified; zero: the configured one
	Key       config.Secret     // valid for the local tenant as long as this process lives, which serves its own command alone; "": none
	Training  bool              // the training service and its curves alone: no chat, runs or tools
	Drain     time.Duration     // how long open answers may go on after a stop was asked for; 0: as configured
	Hurry     <-chan struct{}   // closed: open answers are cut now; nil: never
	Unread    time.Duration     // how long a stream waits for a client that reads nothing; 0: 30 s
	// Settings reads the settings again, for a reload; nil: there is none.
	Settings func() (config.Config, error)
	// Evaluations gives the sets that what is learned from production is held to; nil: it is not known.
	Evaluations func() ([]filter.EvalSet, error)
}

// App is one running Macaron: everything under one MACARON_HOME.
type App struct {
	front
	cfg       config.Config // as it was at the start
	settings  inForce
	version   string
	metrics   *obs.Metrics
	tracer    *obs.Tracer // nil: nobody traces
	keys      *auth.Keyring
	sessions  *session.Log
	tools     *Toolbox
	desk      *mcp.Desk
	catalogue *catalogue
	revisions *revisions.Catalogue
	releases  *forge.Releases
	model     models.Local
	generator *late
	summaries *summary.Worker
	queue     *limits.Queue
	turns     gate
	runs      *runs
	mint      training
	store     Store
	policy    atomic.Pointer[retention.Policy]
	prices    atomic.Pointer[money.Table]
	entries   []entry // every route
	handler   http.Handler
	lock      *homelock.Lock
	private   bool // it serves the command that started it
	alone     bool // the training service is all that is served
	stream    sse.Options
	instance  string // names this process to engines below, which may be itself
}

// New builds everything from the configuration; the model loads in the background
// and /readyz tells when it is there. Close frees what New took.
func New(cfg config.Config, opts Options) (*App, error) {
	a := &App{cfg: cfg, version: opts.Version, model: opts.Model, alone: opts.Training, stream: sse.Options{Deadline: opts.Unread}}
	if a.version == "" {
		a.version = "dev"
	}
	a.settings = inForce{now: cfg, read: opts.Settings}
	a.setPrices(cfg)
	a.metrics = obs.NewMetrics(a.version)
	a.front.init(cfg, opts, a.metrics, refusal)
	a.instance = a.ids.New(ids.Request)
	// The generator early: its model loads while the rest is opened. What is cheap to refuse is before it.
	for _, step := range []func(Options) error{a.openHome, a.openTracer, a.openLog, a.openKeys, a.readContract, a.openGenerator, a.openCatalogue, a.openTurns, a.openRuns, a.openMint} {
		if err := step(opts); err != nil {
			return nil, errors.Join(err, a.Close())
		}
	}
	a.handler = a.routes()
	return a, nil
}

// openHome makes sure of the directory and that no other process uses it.
func (a *App) openHome(Options) error {
	if err := os.MkdirAll(a.cfg.Home, 0o700); err != nil {
		return disk.Error(err, a.cfg.Home+" cannot be made")
	}
	lock, err := homelock.Acquire(a.cfg.Home)
	if err != nil {
		return err
	}
	a.lock = lock
	a.onClose(lock.Close)
	return nil
}

// readContract refuses one that is not there or cannot be read, before a model is loaded for it.
func (a *App) readContract(Options) error {
	_, err := contract.Load(a.cfg.Contract, a.cfg.Signed.Overlays...)
	return err
}

// openTurns sets up the path of a request.
func (a *App) openTurns(Options) error {
	generator := a.seen(a.metered())
	a.summaries = summary.Start(summary.Deps{
		Log: a.sessions, Contracts: a.catalogue, Generator: generator, IDs: a.ids, Meter: a.metrics, Logger: a.log, AtOnce: a.summariesAtOnce(),
	})
	a.onClose(func() error { return a.summaries.Close(a.stop.within()) })
	a.queue = limits.NewQueue(a.cfg.Queue.Running, a.cfg.Queue.Waiting, a.metrics.Load)
	a.turns = gate{clock: a.clock, Runner: &turn.Runner{
		Sessions: a.sessions, Catalogue: a.catalogue, Generator: generator, Summaries: a.summaries,
		Queue: a.queue,
		IDs:   a.ids, Meter: a.metrics, Log: a.log, Tracer: a.turnTracer(), RouteTimeout: a.cfg.Queue.RouteTimeout, Media: a.cfg.Door.MediaHosts,
	}}
	return a.openRanker()
}

// summariesAtOnce is how many summaries are written at once. Engines below batch them with
// answers: half as many as turns keep up, since a summary is a fraction of an answer. The
// embedded engine keeps its rows for people.
func (a *App) summariesAtOnce() int {
	if len(a.cfg.Below()) == 0 {
		return 2
	}
	return max(2, a.cfg.Queue.Running/2)
}

// Handler serves every interface behind the one guard.
func (a *App) Handler() http.Handler { return a.handler }

// WaitReady waits until the model is there, and returns why it is not if it never
// will be.
func (a *App) WaitReady(ctx context.Context) error { return a.generator.wait(ctx) }
