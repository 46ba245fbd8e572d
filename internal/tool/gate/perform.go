package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

// pause is how long the gate waits before the second attempt; before each further one
// twice as long.
const pause = 200 * time.Millisecond

// perform has the call on record, makes it and has its result on record.
func (g *Gate) perform(ctx context.Context, t guarded, c tool.Call) (tool.Result, error) {
	if err := g.o.Ledger.Begin(ctx, c, t.def); err != nil {
		return tool.Result{}, err
	}
	leave := g.enter(t, c)
	r, err := g.attempts(ctx, t, c)
	if broken := leave(); broken != nil {
		return tool.Result{}, broken // a call that it made itself has stopped the run
	}
	if err != nil {
		return tool.Result{}, err
	}
	if err := g.taint.Learn(t.def, r); err != nil {
		r = withUnknown(tool.Fail(err), t.def)
	}
	// The effect has happened: its record is written even when the run was stopped meanwhile.
	if err := g.o.Ledger.End(context.WithoutCancel(ctx), c, r); err != nil {
		return tool.Result{}, err
	}
	return r, nil
}

// attempts invokes until it succeeds, fails for good, or has used its retries.
func (g *Gate) attempts(ctx context.Context, t guarded, c tool.Call) (tool.Result, error) {
	delay := pause
	for n := 0; ; n++ {
		r := g.attempt(ctx, t, c)
		if r.Error == nil || n >= t.def.Retries || ctx.Err() != nil || !again(r.Error, t.def) {
			return r, nil
		}
		if g.o.Wait(ctx, delay) != nil {
			return r, nil
		}
		delay *= 2
	}
}

// transient are the failures after which a call that changes nothing is tried again.
var transient = []errs.Code{errs.UpstreamUnavailable, errs.UpstreamFailed, errs.Overloaded, errs.RateLimited, errs.Canceled}

// again reports whether a further attempt does no harm and may help.
func again(e *tool.Error, d tool.Def) bool {
	return e.Retryable || !d.Effect.Changes() && slices.Contains(transient, e.Code)
}

// attempt invokes once. Whatever goes wrong is a result.
func (g *Gate) attempt(ctx context.Context, t guarded, c tool.Call) tool.Result {
	limit := g.o.Limits.Timeout
	if t.def.TimeoutMS > 0 {
		limit = time.Duration(t.def.TimeoutMS) * time.Millisecond
	}
	timed, stop := context.WithTimeout(ctx, limit)
	defer stop()
	r, err := t.Invoke(timed, c)
	if err != nil {
		r.Error = tool.Fail(err).Error
		if errors.Is(timed.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
			r.Error = &tool.Error{Code: errs.Canceled, Message: fmt.Sprintf("%s did not end within %v", t.def.Name, limit)}
		}
	}
	if len(t.def.NoAI) > 0 {
		for i := range r.Artifacts {
			r.Artifacts[i].NoAI = true // no pointer leads into them
		}
	}
	if r.Error != nil {
		r.Value = nil // an error tells all there is
		return withUnknown(told(r, t.def), t.def)
	}
	if err := g.sound(t, r); err != nil {
		return withUnknown(tool.Result{Error: &tool.Error{Code: errs.UpstreamFailed, Message: err.Error()}}, t.def)
	}
	return r
}

// told puts the words of others behind the message, where they may be told.
func told(r tool.Result, d tool.Def) tool.Result {
	e := *r.Error
	if e.Said != "" && len(d.NoAI) == 0 {
		e.Message += ": " + e.Said
	} else if e.Said != "" {
		e.Message += " (what it says of that is withheld, since its results have NoAI values)"
	}
	e.Said = ""
	return tool.Result{Error: &e, Artifacts: r.Artifacts}
}

// uncertain are the failures that leave open how far a call came.
var uncertain = []errs.Code{errs.UpstreamUnavailable, errs.UpstreamFailed, errs.Canceled, errs.StorageFailed, errs.StorageFull, errs.Internal}

// withUnknown marks such a failure of a tool that changes things, unless the tool says
// that it did nothing.
func withUnknown(r tool.Result, d tool.Def) tool.Result {
	e := *r.Error
	e.Unknown = d.Effect.Changes() && !e.Retryable && slices.Contains(uncertain, e.Code)
	r.Error = &e
	return r
}

// sound checks what a tool gave: bounded, JSON, and what its definition promises.
func (g *Gate) sound(t guarded, r tool.Result) error {
	if len(r.Value) > g.o.Limits.Result {
		return fmt.Errorf("the result of %s has %d bytes; at most %d are taken: ask it for less", t.def.Name, len(r.Value), g.o.Limits.Result)
	}
	if len(r.Value) == 0 {
		return fmt.Errorf("%s gave neither a value nor an error", t.def.Name)
	}
	if !json.Valid(r.Value) {
		return fmt.Errorf("the result of %s is not JSON", t.def.Name)
	}
	if err := t.yields.check(r.Value); err != nil {
		return fmt.Errorf("the result of %s does not fit the schema that it declares: %w", t.def.Name, err)
	}
	return nil
}
