package update

import (
	"context"
	"slices"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/transcript"
)

// Generation is what one generation of a loop has to learn from.
type Generation struct {
	Run      string
	Number   int
	Seed     uint64
	Settings Settings
	Pair     mindforge.Pair // the revision of its adapter is made
	Tries    []expansion.Tried
	Tasks    []mindforge.Task
	// Record reads the record of an attempt.
	Record func(ctx context.Context, run string) (*transcript.Run, error)
	// Replay plays attempts that were made under another contract than the pair's; nil: they
	// are learned under the contract that they were made under.
	Replay *Replayer
}

// Learnt is what came of it.
type Learnt struct {
	Made   Made           `json:"made"`
	Pair   mindforge.Pair `json:"-"` // with the revision
	Report Report         `json:"report"`
}

// Learn is an update of a generation. False: there is nothing to learn, and the report says
// why.
func (u *Updater) Learn(ctx context.Context, g Generation) (out Learnt, ok bool, err error) {
	all, err := g.read(ctx)
	if err != nil {
		return out, false, err
	}
	for i := range all { // before anything is played
		if err := admit(&all[i], u.Splits); err != nil {
			return out, false, err
		}
	}
	if err := g.bring(ctx, all); err != nil {
		return out, false, err
	}
	j := Job{Run: g.Run, Generation: g.Number, Operator: mindforge.Train, Seed: g.Seed, Settings: g.Settings, From: g.from(), Contract: g.Pair.Contract.Hash()}
	if j.Selected, err = j.Settings.Select(ctx, all, u.Splits, j.from()); err != nil {
		return out, false, err
	}
	if out.Report = j.Selected.Report; out.Report.Why != "" {
		return out, false, nil
	}
	if out.Made, err = u.Do(ctx, j); err != nil {
		return out, false, err
	}
	out.Pair = mindforge.Pair{Contract: g.Pair.Contract, Revisions: replaced(g.Pair.Revisions, out.Made.Revision.Revision)}
	return out, true, nil
}

// from is the pair's revision of the adapter that is trained.
func (g *Generation) from() adapter.Revision {
	i := slices.IndexFunc(g.Pair.Revisions, func(r adapter.Revision) bool { return r.Name == g.Settings.Adapter })
	if i < 0 {
		return adapter.Revision{}
	}
	return g.Pair.Revisions[i]
}

// read gives the attempts with their records. One whose record was deleted is none any more.
func (g *Generation) read(ctx context.Context) (all []Trajectory, err error) {
	tasks := map[string]mindforge.Task{}
	for _, t := range g.Tasks {
		tasks[t.ID] = t
	}
	for _, t := range g.Tries {
		task, known := tasks[t.Item]
		if !known || t.Outcome.Run == "" {
			continue
		}
		r, err := g.Record(ctx, t.Outcome.Run)
		if code := errs.CodeOf(err); code == errs.NotFound || code == errs.Gone {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, Trajectory{Task: task, Outcome: t.Outcome, Run: r, Feedback: judged(r)})
	}
	return all, nil
}

// judged is what a person said of a run. A score of 0 takes back what was said before.
func judged(r *transcript.Run) *int {
	if r.Judged == nil || r.Judged.Score == 0 {
		return nil
	}
	return &r.Judged.Score
}

// bring plays successes of other contracts under the pair's, so that what is learned is what
// the pair's prompts will ask for. Of a policy gradient each attempt stays what it was.
func (g *Generation) bring(ctx context.Context, all []Trajectory) error {
	if g.Replay == nil || g.Settings.Method == GRPO {
		return nil
	}
	here := g.Pair.Contract.Hash()
	for i, t := range all {
		if verdict(&t) != "" || t.Run.Head.Contract == here {
			continue
		}
		if _, why, err := g.Settings.allowed(ctx, &t); err != nil {
			return err
		} else if why != "" {
			continue // the selection says so too
		}
		again, err := g.Replay.Play(ctx, g.Pair, t, g.Seed+uint64(i)) //nolint:gosec // any bits are a seed
		if err != nil {
			return err
		}
		all[i] = again
	}
	return nil
}
