// Package summary writes the summaries of delivered turns in the background, after
// the client has its answer. The queue is leased rows of the log, so work that a
// crash cut short is taken up again. When no model can write a summary, a bounded
// extract of the answer takes its place.
package summary

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/session"
)

// Log is what the worker needs of the session log.
type Log interface {
	LeaseSummaries(ctx context.Context, n int, lease time.Duration) ([]record.Task, error)
	ReleaseSummary(ctx context.Context, t record.Task, after time.Duration) error
	History(ctx context.Context, owner, turn string) ([]session.Turn, error)
	Turn(ctx context.Context, owner, turn string) (session.Turn, error)
	PutSummary(ctx context.Context, owner, turn string, s session.Served, sum record.Summary) (bool, error)
}

// Contracts finds the contract that a turn is pinned to.
type Contracts interface {
	Contract(hash ids.Digest) (*contract.Contract, error)
}

// Meter counts what the worker did.
type Meter interface {
	Hop(kind string, u chat.Usage)
	Summary(source string)
	SummaryRetry()
}

// Deps are the worker's surroundings.
type Deps struct {
	Log       Log
	Contracts Contracts
	Generator backend.Generator
	IDs       *ids.Source
	Meter     Meter
	Logger    *slog.Logger
	AtOnce    int // summaries that may run at once; 0 means 2
}

// The worker's pace: how long a summary may take, how often a failed one is tried, how
// often the queue is looked at unasked, and the log for what others have written.
const (
	lease    = 2 * time.Minute
	attempts = 3
	pause    = 2 * time.Second
	poll     = 15 * time.Second
	glance   = 50 * time.Millisecond
)

// Worker writes summaries until Close.
type Worker struct {
	Deps
	wake chan struct{}
	free chan struct{} // a token per summary that may run

	work   context.Context // of the running summaries
	cancel context.CancelFunc
	stop   chan struct{}
	all    sync.WaitGroup
	once   sync.Once
	done   *finished
}

// Start begins to work through the queue.
func Start(d Deps) *Worker {
	if d.AtOnce <= 0 {
		d.AtOnce = 2
	}
	w := &Worker{Deps: d, wake: make(chan struct{}, 1), free: make(chan struct{}, d.AtOnce), stop: make(chan struct{}), done: newFinished()}
	w.work, w.cancel = context.WithCancel(context.Background())
	for range d.AtOnce {
		w.free <- struct{}{}
	}
	w.all.Add(1)
	go w.dispatch()
	w.Wake()
	return w
}

// Wake says that the queue may have work. It never blocks.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Await waits until none of an owner's turns lacks a summary any more, and reports
// whether that came before ctx or the worker ended. Other processes of the log may write
// them too, so it looks there now and then.
func (w *Worker) Await(ctx context.Context, owner string, turns []string) bool {
	w.Wake()
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		all, changed := w.done.have(turns)
		if all {
			return true
		}
		select {
		case <-changed:
		case <-tick.C:
			w.look(ctx, owner, turns)
		case <-ctx.Done():
			return false
		case <-w.stop:
			return false
		}
	}
}

// look notes which turns have got their summary from another process.
func (w *Worker) look(ctx context.Context, owner string, turns []string) {
	for _, id := range turns {
		if done, _ := w.done.have([]string{id}); done {
			continue
		}
		if t, err := w.Log.Turn(ctx, owner, id); err == nil && t.SummarySource != "" { // an error comes back with what uses the summaries
			w.done.add(id)
		}
	}
}

// Close takes no new work, lets the running summaries finish until ctx ends, then
// gives them back to the queue for the next start.
func (w *Worker) Close(ctx context.Context) error {
	w.once.Do(func() { close(w.stop) })
	idle := make(chan struct{})
	go func() { w.all.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-ctx.Done():
		w.cancel()
		<-idle
	}
	w.cancel()
	return nil
}

func (w *Worker) dispatch() {
	defer w.all.Done()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-w.wake:
		case <-tick.C:
		}
		for w.takeOne() {
		}
	}
}

// takeOne starts one summary and reports whether there may be more. It waits for a
// place, so that at most AtOnce are leased and none waits with its lease running.
func (w *Worker) takeOne() bool {
	select {
	case <-w.stop:
		return false
	case <-w.free:
	}
	tasks, err := w.Log.LeaseSummaries(w.work, 1, lease)
	if err != nil || len(tasks) == 0 {
		w.free <- struct{}{}
		if err != nil {
			w.Logger.Error("the summary queue cannot be read", "err", err)
		}
		return false
	}
	w.all.Add(1)
	go func() {
		defer w.all.Done()
		defer func() { w.free <- struct{}{} }()
		w.do(tasks[0])
	}()
	return true
}
