package loop

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/ledger"
)

func itoa(n int) string { return strconv.Itoa(n) }

// begin begins the run, and a generation: with the pair in force, or with what the generation
// before ended with.
func (w *work) begin(ctx context.Context) error {
	if err := w.ticket.Step(ctx, 0, 1, "begin"); err != nil {
		return err
	}
	if w.g > 1 {
		s, ok := w.bodies[fmt.Sprintf("g%03d/close", w.g-1)].(ledger.Step)
		if !ok {
			return errs.New(errs.Internal, "the generation before has not ended", "")
		}
		return w.note(ctx, w.key("begin"), ledger.Step{Generation: w.g, Name: "generation", State: "begun", Result: s.Result})
	}
	p, err := w.Start(ctx)
	if err != nil {
		return err
	}
	release, err := w.Serving.Enter(ctx, w.Run, p)
	if err != nil {
		return err
	}
	settings, err := w.Settings.Hash()
	if err != nil {
		return err
	}
	if err := w.note(ctx, "run", ledger.Run{Settings: settings, Evaluation: w.Evaluation.Digest, Start: release, Seed: w.Seed, Actor: w.Settings.Actor, Command: w.Command}); err != nil {
		return err
	}
	h, err := w.candidate(ctx, "seed", mindforge.Candidate{Contract: p.Contract.Hash(), Revisions: p.Revisions, Operator: mindforge.Seed, Proposer: "person", Seed: w.Seed}, p.Contract)
	if err != nil {
		return err
	}
	return w.note(ctx, w.key("begin"), ledger.Step{Generation: 1, Name: "generation", State: "begun", Result: h})
}

// found is a task that a generation works on, as it is kept: its world makes it again.
type found struct {
	ID     string           `json:"id"`
	World  string           `json:"world"`
	Family string           `json:"family"`
	Level  int              `json:"level"`
	Seed   uint64           `json:"seed"`
	Ways   []mindforge.Step `json:"ways,omitempty"`
	Tries  int              `json:"tries"`
	Passes int              `json:"passes"`
}

// discover draws tasks of the families that are for training, as many of each as it can, and keeps
// those that the champion solves now and then, and those that it never solves. What it solves too
// often is made harder once.
func (w *work) discover(ctx context.Context) error {
	if w.has(w.key("tasks")) {
		return nil
	}
	c, err := w.champion(ctx)
	if err != nil {
		return err
	}
	families := w.training()
	if len(families) == 0 {
		return errs.New(errs.FormatInvalid, "no family of the worlds is for training", "give the evaluation contract other splits, or the run other worlds")
	}
	o := w.outcomes(ctx, "discovery", 0, w.Discovery.Tasks*w.Discovery.Attempts)
	var kept []found
	for i := 0; len(kept) < w.Discovery.Tasks && i < 4*w.Discovery.Tasks; i++ {
		f, err := w.consider(o, c.Pair, families[i%len(families)], i)
		if err != nil {
			return w.outOfBudget(ctx, err)
		}
		if f != nil {
			kept = append(kept, *f)
		}
	}
	if err := o.flush(); err != nil {
		return w.outOfBudget(ctx, err)
	}
	if len(kept) < 2*w.Expansion.Minibatch {
		return w.end(ctx, fmt.Sprintf("of %d tasks the champion solves nearly all: nothing is left to learn at level %d", 4*w.Discovery.Tasks, w.Discovery.Level), c.hash)
	}
	t, err := plain(kept)
	if err != nil {
		return err
	}
	never := 0
	for _, f := range kept {
		if f.Passes == 0 {
			never++
		}
	}
	return w.note(ctx, w.key("tasks"), ledger.Made{What: "tasks", Name: "generation " + itoa(w.g), Hash: t.Name, Tell: map[string]string{"tasks": itoa(len(kept)), "never solved": itoa(never)}}, t)
}

// training lists the families that the loop may see, of the worlds that the run has.
func (w *work) training() (all []evaluation.Family) {
	for _, world := range w.Worlds {
		if len(w.Discovery.Worlds) > 0 && !slices.Contains(w.Discovery.Worlds, world.Name()) {
			continue
		}
		for _, f := range world.Families() {
			if w.Evaluation.Splits.Of(world.Name(), f) == evaluation.Train {
				all = append(all, evaluation.Family{World: world.Name(), Name: f})
			}
		}
	}
	return all
}

// draw is a number that follows from the run's seed and names.
func (w *work) draw(names ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, append([]any{w.Seed}, names...)...)
	return h.Sum64() >> 16
}

// consider makes a task and finds out how often the champion solves it; nil: it is not kept.
func (w *work) consider(o *outcomes, p mindforge.Pair, of evaluation.Family, n int) (*found, error) {
	world := w.Worlds[slices.IndexFunc(w.Worlds, func(x mindforge.World) bool { return x.Name() == of.World })]
	t, err := world.Make(of.Name, w.Discovery.Level, w.draw("task", w.g, n))
	if err != nil {
		return nil, err
	}
	f, err := w.rate(o, p, t)
	if err != nil || f.keep(w.Discovery) || !w.Discovery.Harder {
		return f.kept(w.Discovery), err
	}
	way := mindforge.Ways[n%len(mindforge.Ways)]
	if t, err = world.Harder(t, way, w.draw("harder", w.g, n)); err != nil {
		return nil, nil //nolint:nilerr // not every task can be made harder in every way
	}
	f, err = w.rate(o, p, t)
	return f.kept(w.Discovery), err
}

// rate makes the attempts at a task.
func (w *work) rate(o *outcomes, p mindforge.Pair, t mindforge.Task) (found, error) {
	f := found{ID: t.ID, World: t.World, Family: t.Family, Level: t.Level, Seed: t.Seed, Ways: t.Ways}
	for i := range w.Discovery.Attempts {
		out, err := o.try(p, t, w.draw("rate", t.ID, i))
		if err != nil {
			return f, err
		}
		if out.Failure == mindforge.Infrastructure {
			continue
		}
		f.Tries++
		if out.Pass {
			f.Passes++
		}
	}
	return f, nil
}

func (f found) keep(d Discovery) bool {
	rate := float64(f.Passes) / float64(max(1, f.Tries))
	return f.Tries > 0 && (f.Passes == 0 || d.Low <= rate && rate <= d.High)
}

func (f found) kept(d Discovery) *found {
	if !f.keep(d) {
		return nil
	}
	return &f
}

// tasks makes the tasks of the generation again: those that proposers see attempts of, and those
// that decide within the search.
func (w *work) tasks(ctx context.Context) (train, valid []mindforge.Task, name ids.Digest, err error) {
	m, ok := w.bodies[w.key("tasks")].(ledger.Made)
	if !ok {
		return nil, nil, "", errs.New(errs.Internal, "the generation has no tasks", "")
	}
	var kept []found
	if err := w.read(ctx, m.Hash, &kept); err != nil {
		return nil, nil, "", err
	}
	for i, f := range kept {
		t, err := w.again(f)
		if err != nil {
			return nil, nil, "", err
		}
		if i%2 == 0 {
			train = append(train, t)
		} else {
			valid = append(valid, t)
		}
	}
	return train, valid, m.Hash, nil
}

func (w *work) again(f found) (mindforge.Task, error) {
	i := slices.IndexFunc(w.Worlds, func(x mindforge.World) bool { return x.Name() == f.World })
	if i < 0 {
		return mindforge.Task{}, errs.New(errs.NotFound, "this build has no world "+errs.Clip(f.World), "go on with the build that began the run")
	}
	t, err := w.Worlds[i].Make(f.Family, f.Level, f.Seed)
	for _, s := range f.Ways {
		if err == nil {
			t, err = w.Worlds[i].Harder(t, s.Way, s.Seed)
		}
	}
	if err == nil && t.ID != f.ID {
		err = errs.New(errs.ChecksumMismatch, "the task "+errs.Clip(f.ID)+" is made as "+errs.Clip(t.ID), "go on with the build that began the run")
	}
	return t, err
}
