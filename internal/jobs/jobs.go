// Package jobs has the words of work that outlives a process: a job is named by a key and
// done once, by any worker on any machine, and goes on where a killed one stopped. Which
// database keeps the queue, store/jobs knows. Pure.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"macaron/internal/errs"
)

// Job is a piece of work. Equal keys are one job, for ever.
type Job struct {
	Key   string          `json:"key"`
	Group string          `json:"group"` // jobs that are paused, cancelled and told together
	Kind  string          `json:"kind"`  // which handler does it
	Args  json.RawMessage `json:"args,omitempty"`
	Tries int             `json:"tries,omitempty"` // of a handler that fails, at most; 0: 5. Pauses and killed workers do not count
	Most  time.Duration   `json:"most,omitempty"`  // that its finished steps may have taken in all; 0: no bound
}

// State of a job.
type State string

// The states. The last three are ends.
const (
	Waiting   State = "waiting"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Ended reports whether nobody works on the job any more.
func (s State) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// Status is where a job stands.
type Status struct {
	Job
	State    State     `json:"state"`
	Tried    int       `json:"tried"`
	Last     *Failure  `json:"last,omitempty"` // the last try that failed; a job that was cancelled has none
	Worker   string    `json:"worker,omitempty"`
	Since    time.Time `json:"since"` // it was enqueued
	Progress Progress  `json:"progress"`
	// Worked is how long workers were at it, up to the last step and to what each of them ended
	// with: neither a pause nor the time when nobody had it counts.
	Worked time.Duration `json:"worked_ns"`
}

// Failure is why a try of a job failed.
type Failure struct {
	Code    errs.Code `json:"code"`
	Message string    `json:"message"`
	Next    string    `json:"next,omitempty"` // what a person can do
}

// Handler does a job, step by step. A job may come to it again at any step: what a step did
// must be found by the step's own name, and not be done twice.
type Handler func(ctx context.Context, j Job, t Ticket) error

// Ticket is what a handler has of the queue while it works.
type Ticket interface {
	// Step tells how far the job has come: done of total steps. Its error says that the handler
	// must stop, and is to be given back: the group is paused or cancelled, the job's time is
	// spent, or another worker has it.
	Step(ctx context.Context, done, total int, note string) error
}

// Why a handler has to stop.
var (
	ErrPaused    = errors.New("the jobs of this group are paused")
	ErrCancelled = errors.New("the jobs of this group are cancelled")
	ErrLost      = errors.New("the job is another worker's: this one gave no sign of life for too long")
)

// Final marks an error that another try would meet again.
func Final(err error) error {
	if err == nil {
		return nil
	}
	return final{err}
}

type final struct{ error }

func (f final) Unwrap() error { return f.error }

// IsFinal reports whether trying again is of no use.
func IsFinal(err error) bool {
	var f final
	return errors.As(err, &f)
}
