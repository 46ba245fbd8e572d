// Package harness runs tasks: a model acts under a contract, with tools, code and budgets,
// until it has an answer that the contract's gates accept. Everything that happens is on
// record before the next thing does, so that a run goes on after the process was killed,
// and no call is made twice. docs/HARNESS.md tells the life of a run.
package harness

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/repl"
	"macaron/internal/tool"
)

// Log is the record log as runs use it. What Append returned nil for is durable.
type Log interface {
	Append(ctx context.Context, b record.Batch) error
	// Records gives a session's records by Seq, those after the given one, at most limit.
	Records(ctx context.Context, owner, session string, after int64, limit int) ([]record.Record, error)
	// Run tells how a run stands; errs.NotFound when the owner has none of that id.
	Run(ctx context.Context, owner, id string) (record.RunState, error)
	// Runs lists an owner's runs, newest first, those opened before the given one ("": all).
	Runs(ctx context.Context, owner, before string, limit int) ([]record.RunState, error)
	// RunsLeft lists the runs of all owners that are under way in no other living process.
	RunsLeft(ctx context.Context, limit int) ([]record.RunState, error)
	// RunsLost lists the runs under way whose process ended while this one runs.
	RunsLost(ctx context.Context, limit int) ([]record.RunState, error)
	// RunsStopped lists the runs of all owners that are closed as stopped.
	RunsStopped(ctx context.Context, limit int) ([]record.RunState, error)
	// RunHeld tells whether another living process has a run under way.
	RunHeld(ctx context.Context, owner, run string) (bool, error)
	// Memory lists what an owner's runs have kept in a scope, oldest first.
	Memory(ctx context.Context, owner, scope string, limit int) ([]record.Memory, error)
}

// Contracts knows the contract in force and those that runs are pinned to.
type Contracts interface {
	// Current gives the contract in force for an owner, and the revisions that may act.
	Current(ctx context.Context, owner string) (*contract.Contract, []adapter.Revision, error)
	// Contract gives a contract by its hash.
	Contract(hash ids.Digest) (*contract.Contract, error)
}

// Toolbox makes the tools that a contract declares, for one run. The function that it
// returns lets go of what they hold.
type Toolbox func(ctx context.Context, b Bench) ([]tool.Tool, func() error, error)

// Bench is what the tools of a run work with.
type Bench struct {
	Owner, Run string
	Contract   *contract.Contract
	Workspace  string // directory
	// World are the tools that the task offers, by the names that contracts declare them with.
	World map[string]tool.Tool
	// Call answers a call that a tool makes while it is called itself, the call parent.
	Call func(ctx context.Context, parent, name string, args json.RawMessage) (json.RawMessage, error)
	// Keep keeps content that is too large or too binary for a value, and names it.
	Keep func(content []byte) (ids.Digest, error)
}

// Deps are what a Harness works with. Log, Generator, Contracts and Home are needed.
type Deps struct {
	Generator backend.Generator
	Contracts Contracts
	Log       Log
	Tools     Toolbox                                   // nil: the harness's own alone
	Pool      func(context.Context) (*repl.Pool, error) // gives the sandbox when it is needed; nil: no code can be run
	Saver     Saver                                     // nil: runs cannot save tools
	Home      string                                    // directory of workspaces and kept files; those of Pool lie below it
	Clock     clock.Clock
	IDs       *ids.Source
	Logger    *slog.Logger
	Priced    func(adapter string) bool            // whether anybody knows what its tokens cost; nil: nobody does
	Secret    func(name string) (string, bool)     // what a contract's references stand for
	Variable  func(name string) (string, bool)     // what code finds in its environment
	Running   int                                  // runs at once; 0 means 2
	Waiting   int                                  // runs that wait for a place; 0 means 16
	Point     func(name string)                    // called at named points of a run, for faults
	Pause     func(context.Context, time.Duration) // between attempts of a model call; nil: a timer
}

// Harness runs tasks of all owners. It is safe for concurrent use.
type Harness struct {
	Deps
	files  files
	places chan struct{}

	mu      sync.Mutex
	active  map[string]context.CancelCauseFunc // by owner and run
	shares  map[ids.Digest]chan struct{}       // places of contracts that bound their runs
	waiting int
	closed  bool
	work    sync.WaitGroup
}

// New makes a Harness.
func New(d Deps) *Harness {
	if d.Clock == nil {
		d.Clock = clock.System{}
	}
	if d.IDs == nil {
		d.IDs = ids.NewSource(d.Clock, nil)
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	if d.Priced == nil {
		d.Priced = func(string) bool { return false }
	}
	if d.Secret == nil {
		d.Secret = func(string) (string, bool) { return "", false }
	}
	if d.Variable == nil {
		d.Variable = func(string) (string, bool) { return "", false }
	}
	if d.Running <= 0 {
		d.Running = 2
	}
	if d.Waiting <= 0 {
		d.Waiting = 16
	}
	if d.Point == nil {
		d.Point = func(string) {}
	}
	if d.Pause == nil {
		d.Pause = pause
	}
	return &Harness{Deps: d, files: files{d.Home + "/files"}, places: make(chan struct{}, d.Running), active: map[string]context.CancelCauseFunc{}, shares: map[ids.Digest]chan struct{}{}}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// enter notes that a run is under way here; leave must be called once. A run is under way
// once at a time.
func (h *Harness) enter(ctx context.Context, owner, id string) (run context.Context, leave func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	key := owner + "\x00" + id
	switch {
	case h.closed:
		cancel(nil)
		return nil, nil, errs.New(errs.Overloaded, "this process is shutting down", "resume the run later")
	case h.active[key] != nil:
		cancel(nil)
		return nil, nil, errs.New(errs.InvalidRequest, "the run is under way", "wait for its end, or cancel it")
	}
	h.active[key] = cancel
	h.work.Add(1)
	return ctx, func() {
		h.mu.Lock()
		delete(h.active, key)
		h.mu.Unlock()
		cancel(nil)
		h.work.Done()
	}, nil
}
