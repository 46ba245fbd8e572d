// Package act makes attempts at tasks of worlds through the harness of production: the
// contract of a pair is the run's, its revision acts, and what is known of an outcome comes
// from the run's record and from the world that judges it. A success is audited before it
// counts.
package act

import (
	"context"
	"strings"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/bench"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/world"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

// Actor runs the harness. It is safe for as many attempts at once as Deps are.
type Actor struct {
	Deps   harness.Deps // Contracts is the pair's
	Owner  string
	Worlds []world.World
	// Source gives the revisions that a contract's own sources name, for adapters that a pair
	// does not list; nil: there are none.
	Source  func(c *contract.Contract) ([]adapter.Revision, error)
	Purpose record.Purpose       // "": evaluation, of which no rows are trained on
	Limits  record.RunLimits     // lower than the contract's
	CPU     func() time.Duration // that this process has used; nil: not told
}

// Try implements mindforge.Actor.
func (a *Actor) Try(ctx context.Context, p mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	t, err := world.Again(a.Worlds, t.ID) // with its judgment, and as its name says
	if err != nil {
		return mindforge.Outcome{}, err
	}
	pinned, err := a.pin(p)
	if err != nil {
		return mindforge.Outcome{}, err
	}
	d, began := a.Deps, a.cpu()
	d.Contracts = pinned
	runner := bench.Runner{Deps: d, Owner: a.Owner, Seed: seed, Purpose: a.Purpose, Limit: a.Limits}
	row, err := runner.Run(ctx, world.Suite{Worlds: a.Worlds, Tasks: []mindforge.Task{t}}, world.Item(t), p.Contract.Agent.Mode)
	if err != nil {
		return mindforge.Outcome{}, err
	}
	out := mindforge.Outcome{Cost: cost(row)}
	out.Cost.CPUMS = (a.cpu() - began).Milliseconds()
	if len(row.Runs) == 0 {
		out.Failure, out.Evidence = mindforge.Infrastructure, []string{row.Failure}
		return out, nil
	}
	out.Run = row.Runs[len(row.Runs)-1]
	return a.judged(ctx, d, p, t, row, out)
}

// judged reads the run's record and says what the attempt came to.
func (a *Actor) judged(ctx context.Context, d harness.Deps, p mindforge.Pair, t mindforge.Task, row bench.Row, out mindforge.Outcome) (mindforge.Outcome, error) {
	run, err := a.record(ctx, d, out.Run)
	if err != nil {
		return out, err
	}
	out.Pass, out.Points = row.Failure == "" && row.Points >= 1, row.Points
	at := expansion.Attempt{Run: run, Contract: p.Contract, Task: t, Pass: out.Pass}
	if run.Closed != nil {
		at.Answer = run.Closed.Answer
		out.Answer = strings.ToValidUTF8(at.Answer[:min(len(at.Answer), mindforge.MaxAnswer)], "")
	}
	if !out.Pass {
		f := expansion.Classify(at)
		out.Failure, out.Evidence = f.Failure, f.Evidence
		return out, nil
	}
	if t.Judged.Unplayed {
		return out, nil
	}
	f, err := expansion.Audit(at, a.play(ctx))
	if err != nil || f.Failure == "" {
		return out, err
	}
	out.Pass, out.Points, out.Failure, out.Evidence = false, 0, f.Failure, f.Evidence
	return out, nil
}

func (a *Actor) record(ctx context.Context, d harness.Deps, id string) (*transcript.Run, error) {
	h := harness.New(d)
	defer h.Close()
	return h.Transcript(ctx, a.Owner, id)
}

// play plays solutions in the task's world.
func (a *Actor) play(ctx context.Context) expansion.Play {
	return func(t mindforge.Task, s mindforge.Solution) (bool, error) {
		w, err := world.Of(a.Worlds, t.World)
		if err != nil {
			return false, err
		}
		score, err := world.Play(ctx, w, t, s)
		if errs.CodeOf(err) == errs.InvalidRequest || errs.CodeOf(err) == errs.NotFound {
			return false, nil // a call that the world does not take is no solution
		}
		return score.Points >= 1, err
	}
}

func (a *Actor) cpu() time.Duration {
	if a.CPU == nil {
		return 0
	}
	return a.CPU()
}

func cost(r bench.Row) mindforge.Cost {
	return mindforge.Cost{Attempts: 1, Turns: r.Turns, Prompt: int64(r.Prompt), Output: int64(r.Output), WallMS: r.WallMS, USD: r.CostUSD}
}

// pinned is a pair as runs ask for it. It implements harness.Contracts.
type pinned struct {
	made      *contract.Contract
	revisions []adapter.Revision
}

// pin puts the pair's revisions before those that the contract's sources name.
func (a *Actor) pin(p mindforge.Pair) (pinned, error) {
	out := pinned{p.Contract, nil}
	if a.Source != nil {
		all, err := a.Source(p.Contract)
		if err != nil {
			return out, err
		}
		out.revisions = all
	}
	out.revisions = append(append([]adapter.Revision(nil), p.Revisions...), out.revisions...)
	return out, nil
}

// Current implements harness.Contracts.
func (p pinned) Current(context.Context, string) (*contract.Contract, []adapter.Revision, error) {
	return p.made, p.revisions, nil
}

// Contract implements harness.Contracts.
func (p pinned) Contract(hash ids.Digest) (*contract.Contract, error) {
	if p.made.Hash() == hash {
		return p.made, nil
	}
	return nil, errs.New(errs.NotFound, "the run is of another pair", "")
}
