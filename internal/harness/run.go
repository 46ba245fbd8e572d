package harness

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/repl"
	"macaron/internal/tool"
	"macaron/internal/tool/gate"
	"macaron/internal/transcript"
)

// run is one run that is under way here.
type run struct {
	h         *Harness
	owner, id string
	contract  *contract.Contract
	watch     func(record.Record)
	cancel    context.CancelCauseFunc
	head      record.Head          // of its records
	stretch   string               // names this stretch of work; "" for the first one
	dir       string               // of its workspace
	own       map[string]ownTool   // the harness's own, by name
	tools     map[string]tool.Tool // the others
	done      func() error         // lets go of the others
	gate      *gate.Gate
	secrets   *strings.Replacer
	began     time.Time     // of this stretch
	before    time.Duration // of work in earlier stretches

	writing sync.Mutex // one append at a time
	state   sync.Mutex // t
	t       *transcript.Run

	prompt  []int32       // the last hop's prompt and answer by token ids; nil: not known
	pool    *repl.Pool    // nil: not needed so far
	space   *repl.Session // the model's Python; nil: not open
	calling calling       // the cell that runs
}

// work goes on with the run until it stands still, and closes it.
func (r *run) work(ctx context.Context) (Report, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.cancel = cancel
	r.began, r.before = r.h.Clock.Now(), r.t.Totals.Wall
	if most := r.t.Opened.Limits.WallMS; most > 0 {
		left := time.Duration(most)*time.Millisecond - r.before
		timed, stop := context.WithTimeout(ctx, max(left, 0))
		defer stop()
		ctx = timed
	}
	end, err := r.loop(ctx)
	if errors.Is(err, errLost) {
		r.close()
		return Report{}, errs.Wrap(errs.Canceled, err, "another process has gone on with the run", "")
	}
	if err != nil {
		end = record.RunClosed{}
		stop := ending(ctx, err)
		end.Status, end.Reason, end.Call = stop.status, stop.reason, stop.call
		if stop.status == record.RunFailed {
			r.h.Logger.Warn("a run failed", "run", r.id, "code", string(errs.CodeOf(err)))
		}
	}
	r.h.Point("close")
	if err := r.end(ctx, end); err != nil {
		return Report{}, err
	}
	r.h.Point("closed")
	return r.report(), nil
}

// end closes the run on the record, with its last snapshot and its outputs.
func (r *run) end(ctx context.Context, end record.RunClosed) error {
	defer r.close()
	if err := r.snapshot(ctx); err != nil && end.Status == record.RunDone {
		end = record.RunClosed{Status: record.RunFailed, Reason: errs.As(err).Message}
	}
	outputs, err := r.outputs()
	if err != nil && end.Status == record.RunDone {
		end = record.RunClosed{Status: record.RunFailed, Reason: errs.As(err).Message}
	}
	end.Outputs = outputs
	end.Answer = r.secrets.Replace(end.Answer)
	end.Totals = r.totals()
	err = r.append(ctx, end)
	if errors.Is(err, errLost) {
		return errs.Wrap(errs.Canceled, err, "another process has gone on with the run", "")
	}
	if err == nil {
		r.h.Logger.Info("run", "run", r.id, "session", r.head.Session, "status", string(end.Status), "cause", end.Reason,
			"turns", end.Totals.Turns, "tool_calls", end.Totals.ToolCalls, "cells", end.Totals.Cells, "wall_ms", end.Totals.Wall.Milliseconds())
	}
	return err
}

// close lets go of what the run holds.
func (r *run) close() {
	if r.space != nil {
		if err := r.space.Close(); err != nil {
			r.h.Logger.Warn("a run's Python could not be closed", "run", r.id, "err", err)
		}
		r.space = nil
	}
	if r.done != nil {
		if err := r.done(); err != nil {
			r.h.Logger.Warn("a run's tools could not be closed", "run", r.id, "err", err)
		}
		r.done = nil
	}
}

// totals are those of the record so far, with the time of this stretch.
func (r *run) totals() record.RunTotals {
	r.state.Lock()
	defer r.state.Unlock()
	t := r.t.Totals
	t.Wall = r.before + r.h.Clock.Now().Sub(r.began)
	return t
}

func (r *run) report() Report {
	r.state.Lock()
	defer r.state.Unlock()
	return report(r.t, r.dir)
}

func report(t *transcript.Run, dir string) Report {
	out := Report{RunID: t.Head.Run, Status: t.Status, Totals: t.Totals, Workspace: dir}
	if c := t.Closed; c != nil && t.Status != record.RunRunning {
		out.Reason, out.Call, out.Answer, out.Outputs = c.Reason, c.Call, c.Answer, c.Outputs
	}
	return out
}

// sandbox gives the pool of sandboxes.
func (r *run) sandbox(ctx context.Context) (*repl.Pool, error) {
	if r.pool != nil {
		return r.pool, nil
	}
	if r.h.Pool == nil {
		return nil, errs.New(errs.Unsupported, "this needs a sandbox for Python, and there is none", "see `macaron doctor`, or use --mode functions")
	}
	pool, err := r.h.Pool(ctx)
	if err != nil {
		return nil, err
	}
	if is, want := pool.Backend(), r.contract.Sandbox.Backend; is != want {
		return nil, errs.New(errs.Unsupported, "the contract is for the sandbox "+want+", and this machine's is "+is, "set sandbox.backend, here or there").In("sandbox.backend")
	}
	r.pool = pool
	return pool, nil
}

func (h *Harness) workspace(id string) string { return filepath.Join(h.Home, id, "work") }
