package world

import (
	"context"
	"slices"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/bench"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

// Actor makes attempts in the harness of production: a mindforge.Actor.
type Actor struct {
	Worlds  []World
	Deps    harness.Deps       // Contracts is the pair's
	Owner   string             // of the runs
	Purpose record.Purpose     // discovery: what it did may be trained on; evaluation: it may not
	Served  []adapter.Revision // what adapters have that a pair does not list
	Limit   record.RunLimits   // lower than the contract's; 0 leaves it
	// Explain says what a failed attempt failed by, and whether a passed one is believed; nil:
	// failures have no class but that of the machinery.
	Explain func(ctx context.Context, a Attempt) (mindforge.Failure, []string, error)
}

// Attempt is one that was made, with the whole of its record.
type Attempt struct {
	Run      *transcript.Run
	Contract *contract.Contract
	Task     mindforge.Task // made again, with the judge's half
	Answer   string
	Pass     bool
}

// Try implements mindforge.Actor.
func (a Actor) Try(ctx context.Context, p mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	end := process.begin()
	out, err := a.attempt(ctx, p, t, seed)
	took := end()
	out.Cost.CPUMS, out.Cost.WallMS = took.cpu.Milliseconds(), took.wall.Milliseconds()
	return out, err
}

func (a Actor) attempt(ctx context.Context, p mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	d := a.Deps
	d.Contracts = pinned{p.Contract, a.revisions(p)}
	runner := bench.Runner{Deps: d, Owner: a.Owner, Seed: seed, Purpose: a.Purpose, Limit: a.Limit}
	row, err := runner.Run(ctx, Suite{a.Worlds, []mindforge.Task{t}}, Item(t), p.Contract.Agent.Mode)
	if err != nil {
		return mindforge.Outcome{}, err
	}
	out := mindforge.Outcome{Points: row.Points, Pass: row.Points == 1 && row.Failure == "", Cost: mindforge.Cost{Attempts: 1, Turns: row.Turns, Prompt: int64(row.Prompt), Output: int64(row.Output), USD: row.CostUSD}}
	if len(row.Runs) > 0 {
		out.Run = row.Runs[len(row.Runs)-1]
	}
	if row.Failure != "" {
		out.Failure, out.Evidence = mindforge.Infrastructure, []string{row.Failure}
	}
	return a.explained(ctx, d, p, t, out)
}

// explained adds the class of a failure. A success that is not believed is none.
func (a Actor) explained(ctx context.Context, d harness.Deps, p mindforge.Pair, t mindforge.Task, out mindforge.Outcome) (mindforge.Outcome, error) {
	if a.Explain == nil || out.Run == "" {
		return out, nil
	}
	run, err := harness.New(d).Transcript(ctx, a.Owner, out.Run)
	if err != nil {
		return out, err
	}
	why, evidence, err := a.Explain(ctx, Attempt{run, p.Contract, t, answered(run, p.Contract), out.Pass})
	if why != "" { // the record can tell more than that the machinery failed
		out.Failure, out.Evidence, out.Pass, out.Points = why, evidence, false, 0
	}
	return out, err
}

// answered is the answer of a run, with the value in the place of Last.
func answered(r *transcript.Run, c *contract.Contract) string {
	if r.Closed == nil {
		return ""
	}
	if strings.TrimSpace(r.Closed.Answer) != Last {
		return r.Closed.Answer
	}
	last := ""
	for _, call := range r.Calls() {
		if k := call.Returned; k != nil && k.Error == nil && slices.ContainsFunc(c.Tools, func(t contract.Tool) bool { return t.Name == k.Name && strings.HasPrefix(t.Use, contract.UseWorld) }) {
			last = text(k.Value)
		}
	}
	return last
}

// revisions are those of the pair, and of the adapters that it does not list those that are
// served.
func (a Actor) revisions(p mindforge.Pair) []adapter.Revision {
	out := slices.Clone(p.Revisions)
	for _, r := range a.Served {
		if !slices.ContainsFunc(out, func(x adapter.Revision) bool { return x.Name == r.Name }) {
			out = append(out, r)
		}
	}
	return out
}

// pinned is one pair, for whoever asks.
type pinned struct {
	contract  *contract.Contract
	revisions []adapter.Revision
}

// Current implements harness.Contracts.
func (p pinned) Current(context.Context, string) (*contract.Contract, []adapter.Revision, error) {
	return p.contract, p.revisions, nil
}

// Contract implements harness.Contracts.
func (p pinned) Contract(h ids.Digest) (*contract.Contract, error) {
	if p.contract.Hash() == h {
		return p.contract, nil
	}
	return nil, errs.New(errs.NotFound, "the run is of another pair", "")
}
