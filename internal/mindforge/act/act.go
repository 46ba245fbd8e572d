// Package act makes attempts at tasks of worlds through the harness of production: the
// contract of a pair is the run's, its revision acts, and what is known of an outcome comes
// from the run's record and from the world that judges it. A success is audited before it
// counts.
package act

import (
	"cmp"
	"context"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/contract"
	"macaron/internal/harness"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/world"
	"macaron/internal/record"
)

// Actor is a world's actor that classifies what failed, and audits what passed.
type Actor struct {
	Deps   harness.Deps // Contracts is the pair's
	Owner  string
	Worlds []world.World
	// Source gives the revisions that a contract's own sources name, for adapters that a pair
	// does not list; nil: there are none.
	Source  func(c *contract.Contract) ([]adapter.Revision, error)
	Purpose record.Purpose   // "": evaluation, of which no rows are trained on
	Limits  record.RunLimits // lower than the contract's
}

// Try implements mindforge.Actor.
func (a *Actor) Try(ctx context.Context, p mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	t, err := world.Restored(a.Worlds, t) // with its judgment, and as its name says
	if err != nil {
		return mindforge.Outcome{}, err
	}
	var served []adapter.Revision
	if a.Source != nil {
		if served, err = a.Source(p.Contract); err != nil {
			return mindforge.Outcome{}, err
		}
	}
	answer := ""
	runs := world.Actor{Worlds: a.Worlds, Deps: a.Deps, Owner: a.Owner, Purpose: cmp.Or(a.Purpose, record.Evaluation), Served: served, Limit: a.Limits,
		Explain: func(ctx context.Context, at world.Attempt) (mindforge.Failure, []string, error) {
			answer = at.Answer
			return a.explain(ctx, at)
		}}
	out, err := runs.Try(ctx, p, t, seed)
	out.Answer = strings.ToValidUTF8(answer[:min(len(answer), mindforge.MaxAnswer)], "")
	return out, err
}

// explain says what a failed attempt failed by, and why one that passed is not believed.
func (a *Actor) explain(ctx context.Context, at world.Attempt) (mindforge.Failure, []string, error) {
	x := expansion.Attempt{Run: at.Run, Contract: at.Contract, Task: at.Task, Answer: at.Answer, Pass: at.Pass}
	if !at.Pass {
		f := expansion.Classify(x)
		return f.Failure, f.Evidence, nil
	}
	if at.Task.Judged.Unplayed {
		return "", nil, nil
	}
	f, err := expansion.Audit(x, a.play(ctx, at))
	return f.Failure, f.Evidence, err
}
