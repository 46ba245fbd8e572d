// Package loop is the stage machine by which a pair of adapters and contract improves:
// discovery, expansion, update, gate, generation by generation, until a budget is spent, nothing
// improves any more, or somebody says stop. Each stage is a job that is unique by run, generation
// and stage; within it every step has a key in the ledger, which holds all state: a stage that is
// done again, by whatever process, adds nothing and comes to the same. docs/formats/forge.md.
package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/evaluation/evaluator"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/ledger"
)

// Queue is what the loop needs of the jobs.
type Queue interface {
	Enqueue(ctx context.Context, all ...jobs.Job) error
	Pause(ctx context.Context, group string) error
	Resume(ctx context.Context, group string) error
}

// Judge is the evaluator's process. *evaluator.Client is one.
type Judge interface {
	discovery.Sealed
	Decide(ctx context.Context, stage mindforge.Stage, champion, candidate evaluator.Arm, approvals ...[]byte) (evaluator.Ruling, error)
	Close() error
}

// Serving moves the names that say what is served. Every method may be called again after it has
// done its work, and then does nothing.
type Serving interface {
	// Enter makes a release of a pair.
	Enter(ctx context.Context, run string, p mindforge.Pair) (ids.Digest, error)
	// Try puts a release on trial for a share of the conversations.
	Try(ctx context.Context, run string, release ids.Digest, share float64) error
	// Back ends the trial of a release.
	Back(ctx context.Context, run string, release ids.Digest, why string) error
	// Promote makes a release the champion; because is the entry of the ledger that decided it.
	Promote(ctx context.Context, run string, release ids.Digest, why string, because ids.Digest) error
}

// Lesson is what an update has to learn from.
type Lesson struct {
	Run        string
	Generation int
	Seed       uint64
	Pair       mindforge.Pair // what is to be improved
	Tries      []expansion.Tried
	Tasks      []mindforge.Task
	Tokens     int64 // that may be trained, at most; 0: no bound
}

// Learned is a revision that training has made.
type Learned struct {
	Pair  mindforge.Pair // with the revision
	Made  ledger.Made
	Texts []ledger.Text // what a process that goes on needs to know of it
	Why   string        // nothing was learned
}

// Updater trains. Equal lessons give one revision, however often they are learned.
type Updater interface {
	// Update gives false where there is nothing to learn.
	Update(ctx context.Context, l Lesson, t jobs.Ticket) (Learned, bool, error)
	// Recall is told of every revision that the run has made, before anything else is done.
	Recall(ctx context.Context, made ledger.Made, text func(ids.Digest) (string, error)) error
}

// Chooser is a model that proposes tasks: a value of a JSON Schema for each seed.
type Chooser interface {
	Name() string
	Choose(ctx context.Context, schema json.RawMessage, seed uint64) ([]byte, error)
}

// Loop is a run. Its fields are set once.
type Loop struct {
	Settings
	Owner      string
	Run        string
	Command    string // that does it again
	Ledger     *ledger.Ledger
	Queue      Queue
	Actor      mindforge.Actor
	Worlds     []mindforge.World
	Catalogue  *edit.Catalogue
	Proposer   expansion.Proposer
	Chooser    Chooser // nil: no model proposes tasks
	Planted    bool    // tasks are names without content
	Evaluation evaluation.Signed
	Verifier   evaluator.Verifier // whom decisions are believed
	Cases      int                // of safety that the evaluator has, for what is told of the time that is left
	Judge      func(ctx context.Context, v evaluator.Verifier) (Judge, error)
	Production *Production // nil: no task comes from what people had done
	Updater    Updater     // nil: nothing trains
	Runs       Runs        // nil: attempts have no records
	Serving    Serving
	Start      func(ctx context.Context) (mindforge.Pair, error) // the pair in force
	Decoys     func(champion mindforge.Pair, generation int) ([]mindforge.Edit, error)
	Point      func(name string) // called at every boundary, for faults
}

// stages are those of a generation, in order.
var stages = []string{"begin", "discovery", "expansion", "update", "gate", "close"}

// Kind is that of the loop's jobs.
const Kind = "forge.stage"

// place is a job's arguments.
type place struct {
	Run        string   `json:"run"`
	Generation int      `json:"generation"`
	Stage      string   `json:"stage"`
	Of         int      `json:"of,omitempty"`      // generations that the run may have
	Planned    *planned `json:"planned,omitempty"` // of each generation
}

// Begin enqueues the first stage. A run that has begun goes on where it is. An evaluation contract
// that has nothing to judge by in the run's worlds is found here, and not at the first gate.
func (l *Loop) Begin(ctx context.Context) error {
	if err := errors.Join(l.Evaluation.Covers(l.Worlds), l.Live()); err != nil {
		return err
	}
	return l.enqueue(ctx, 1, stages[0])
}

func (l *Loop) enqueue(ctx context.Context, generation int, stage string) error {
	raw, err := json.Marshal(place{l.Run, generation, stage, l.Generations, l.planned()})
	if err != nil {
		return err
	}
	return l.Queue.Enqueue(ctx, jobs.Job{Key: fmt.Sprintf("forge/%s/%03d/%s", l.Run, generation, stage), Group: l.Run, Kind: Kind, Args: raw})
}

// Handle does a stage, and enqueues the next one. It is a jobs.Handler.
func (l *Loop) Handle(ctx context.Context, j jobs.Job, t jobs.Ticket) error {
	var at place
	if err := json.Unmarshal(j.Args, &at); err != nil || at.Run != l.Run {
		return errs.New(errs.Unsupported, "this worker does the run "+l.Run+" alone", "start one for the other run")
	}
	w, err := l.open(ctx, at.Generation, at.Stage, t)
	if err == nil {
		err = w.do(ctx)
	}
	if err != nil {
		return final(err)
	}
	l.point("stage/" + at.Stage)
	return w.next(ctx)
}

// final marks what another try would meet again: changed bytes, what is not allowed, budgets.
func final(err error) error {
	switch errs.CodeOf(err) {
	case errs.ChecksumMismatch, errs.Forbidden, errs.FormatInvalid, errs.InvalidRequest, errs.BudgetSpent, errs.Unsupported, errs.NotFound:
		return jobs.Final(err)
	}
	return err
}

func (l *Loop) point(name string) {
	if l.Point != nil {
		l.Point(name)
	}
}

func (w *work) do(ctx context.Context) error {
	switch w.stage {
	case "begin":
		return w.begin(ctx)
	case "discovery":
		return w.discover(ctx)
	case "expansion":
		return w.expand(ctx)
	case "update":
		return w.update(ctx)
	case "gate":
		return w.gate(ctx)
	case "close":
		return w.close(ctx)
	}
	return errs.New(errs.Internal, "there is no stage "+errs.Clip(w.stage), "")
}

// next enqueues what comes behind a stage that is done.
func (w *work) next(ctx context.Context) error {
	if w.over {
		return nil
	}
	for i, s := range stages {
		switch {
		case s != w.stage:
		case i+1 < len(stages):
			return w.enqueue(ctx, w.g, stages[i+1])
		default:
			return w.enqueue(ctx, w.g+1, stages[0])
		}
	}
	return nil
}
