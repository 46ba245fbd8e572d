package update

import (
	"context"
	"fmt"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/stat"
)

// Absorption moves an ability from the contract into the adapter: trajectories under Long are
// played again under Short, whose prompts lack what Long says, and the adapter learns to do
// under these what it did under those.
type Absorption struct {
	Job     Job            // Selected and Operator are filled in
	Long    mindforge.Pair // under which the trajectories were made
	Short   mindforge.Pair // the same revisions
	Edits   []mindforge.Edit
	Parents []ids.Digest // candidates
	Replay  *Replayer
	Actor   mindforge.Actor  // of the measurements
	Held    []mindforge.Task // of validation, to measure on
	Repeats int              // attempts at each
}

// Absorbed is what came of it: the pair is shorter, and what it does was measured.
type Absorbed struct {
	Made      Made                `json:"made"`
	Pair      mindforge.Pair      `json:"-"`
	Candidate mindforge.Candidate `json:"candidate"`
	Replayed  int                 `json:"replayed"` // trajectories that did their task under the short contract too
	Report    Report              `json:"report"`
	Long      Measured            `json:"long"`   // the long contract, before
	Before    Measured            `json:"before"` // the short contract with the weights of before: what the words were worth
	After     Measured            `json:"after"`  // the short contract with the new revision
}

// Measured is how a pair does on tasks that nothing was trained on.
type Measured struct {
	Pass   stat.Estimate  `json:"pass"`          // over families
	Prompt float64        `json:"prompt_tokens"` // of an attempt, mean
	Cost   mindforge.Cost `json:"cost"`
}

// Shorten is Absorb of what a generation did: its attempts, whatever contract they were made under.
func (u *Updater) Shorten(ctx context.Context, g Generation, a Absorption) (Absorbed, error) {
	all, err := g.read(ctx)
	if err != nil {
		return Absorbed{}, err
	}
	a.Job = Job{Run: g.Run, Generation: g.Number, Seed: g.Seed, Settings: g.Settings, From: g.from()}
	return u.Absorb(ctx, a, all)
}

// Absorb plays, selects, trains and measures. Where nothing is worth training on, nothing is made,
// and the report says why.
func (u *Updater) Absorb(ctx context.Context, a Absorption, all []Trajectory) (Absorbed, error) {
	var out Absorbed
	if err := u.held(a.Held); err != nil {
		return out, err
	}
	for i := range all { // before anything is played
		if err := admit(&all[i], u.Splits); err != nil {
			return out, err
		}
	}
	a.Job.Settings.Method = SFT
	played, err := a.replay(ctx, all, &out)
	if err != nil {
		return out, err
	}
	j := a.Job
	j.Operator, j.Contract = mindforge.Absorb, a.Short.Contract.Hash()
	if j.Selected, err = j.Settings.Select(ctx, played, u.Splits, j.From); err != nil {
		return out, err
	}
	if out.Report = j.Selected.Report; out.Report.Why != "" {
		return out, nil
	}
	if out.Made, err = u.Do(ctx, j); err != nil {
		return out, err
	}
	out.Pair = mindforge.Pair{Contract: a.Short.Contract, Revisions: replaced(a.Short.Revisions, out.Made.Revision.Revision)}
	out.Candidate = mindforge.Candidate{Contract: j.Contract, Revisions: out.Pair.Revisions, Parents: a.Parents, Operator: mindforge.Absorb, Edits: a.Edits,
		Proposer: "catalogue", Seed: j.Seed, Generation: j.Generation}
	for _, m := range []struct {
		to   *Measured
		pair mindforge.Pair
	}{{&out.Long, a.Long}, {&out.Before, a.Short}, {&out.After, out.Pair}} {
		if *m.to, err = Measure(ctx, a.Actor, m.pair, a.Held, a.Repeats, j.Seed); err != nil {
			return out, err
		}
	}
	return out, nil
}

// held refuses to measure on what is not for it.
func (u *Updater) held(tasks []mindforge.Task) error {
	if len(tasks) == 0 {
		return errs.New(errs.InvalidRequest, "there is no task to measure on", "give the evaluation contract families for validation, or forge.toml other worlds")
	}
	for _, t := range tasks {
		if split := u.Splits.Of(t.World, t.Family); split != evaluation.Validation {
			return errs.New(errs.Forbidden, fmt.Sprintf("the family %s/%s is of the split %s", t.World, t.Family, split), "measure on families of validation")
		}
	}
	return nil
}

// replay plays the successes. One that cannot be played is dropped as a failure.
func (a *Absorption) replay(ctx context.Context, all []Trajectory, out *Absorbed) (played []Trajectory, err error) {
	for i, t := range all {
		if verdict(&t) != "" {
			continue
		}
		if _, why, err := a.Job.Settings.allowed(ctx, &t); err != nil {
			return nil, err
		} else if why != "" {
			played = append(played, t) // the selection says so too
			continue
		}
		again, err := a.Replay.Play(ctx, a.Short, t, a.Job.Seed+uint64(i)) //nolint:gosec // any bits are a seed
		if err != nil {
			return nil, err
		}
		if verdict(&again) == "" {
			out.Replayed++
		}
		played = append(played, again)
	}
	return played, nil
}

// replaced are revisions with one in the place of that of its name.
func replaced(all []adapter.Revision, r adapter.Revision) []adapter.Revision {
	out := []adapter.Revision{r}
	for _, x := range all {
		if x.Name != r.Name {
			out = append(out, x)
		}
	}
	return out
}

// Measure tries tasks under a pair. The same seeds are used for every pair. Where the machinery failed
// in every attempt, that is an error, and no pass rate of 0.
func Measure(ctx context.Context, by mindforge.Actor, p mindforge.Pair, tasks []mindforge.Task, repeats int, seed uint64) (Measured, error) {
	var m Measured
	var values []stat.Value
	for i, t := range tasks {
		for k := range repeats {
			o, err := by.Try(ctx, p, t, seed+uint64(i*repeats+k)) //nolint:gosec // any bits are a seed
			if err != nil {
				return m, err
			}
			m.Cost = m.Cost.Plus(o.Cost)
			if o.Failure == mindforge.Infrastructure {
				continue
			}
			y := 0.0
			if o.Pass {
				y = 1
			}
			values = append(values, stat.Value{Cluster: t.World + "/" + t.Family, Y: y})
		}
	}
	if len(values) == 0 {
		return m, errs.New(errs.UpstreamFailed, fmt.Sprintf("of %d attempts at held-out tasks none came to an end: nothing is known of the pair", m.Cost.Attempts), "look at the records of these runs")
	}
	m.Pass, m.Prompt = stat.Mean(values, 0, 1), float64(m.Cost.Prompt)/float64(len(values))
	return m, nil
}
