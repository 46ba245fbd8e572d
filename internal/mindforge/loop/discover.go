package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/discovery"
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
		c, err := w.byHash(ctx, s.Result)
		if err == nil {
			err = w.stands(ctx, c)
		}
		if err != nil {
			return err
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
	Source discovery.Source `json:"source"`
	Spec   json.RawMessage  `json:"spec,omitempty"` // of production, which no world makes again
}

// discover finds tasks of the families that are for training: those of production, those that a
// model chose, and as many of each family as it can. They are kept when they are sound, new, nothing of what is sealed,
// not all of one shape, and solved now and then by the champion, or never, of which there are not
// too many: from what is never solved nothing is learned. What it solves too often is made harder once.
func (w *work) discover(ctx context.Context) error {
	if w.has(w.key("tasks")) {
		return nil
	}
	c, err := w.champion(ctx)
	if err != nil {
		return err
	}
	if len(w.training()) == 0 {
		return errs.New(errs.FormatInvalid, "no family of the worlds is for training", "give the evaluation contract other splits, or the run other worlds")
	}
	v, err := w.verifier()
	if err != nil {
		return err
	}
	j, err := w.Judge(ctx, v)
	if err != nil {
		return err
	}
	told, err := w.search(ctx, c, j)
	if closed := j.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return w.outOfBudget(ctx, err)
	}
	return w.worth(ctx, c, told)
}

// search considers tasks until there are enough.
func (w *work) search(ctx context.Context, c entered, sealed discovery.Sealed) (*finder, error) {
	f, err := w.finder(ctx, c, sealed)
	if err == nil {
		err = f.produced(ctx)
	}
	if err == nil {
		err = f.proposed(ctx)
	}
	families := w.training()
	for i := 0; err == nil && len(f.kept) < w.Discovery.Tasks && i < 8*w.Discovery.Tasks; i++ {
		err = f.draw(ctx, families[i%len(families)], i)
	}
	if err == nil {
		err = f.o.flush()
	}
	return f, err
}

// worth keeps what was found, and what of it was refused. Where it is too little, the run ends.
func (w *work) worth(ctx context.Context, c entered, f *finder) error {
	told := f.Report()
	told.Cost.CPUMS, told.Cost.WallMS = 0, 0
	account, err := plain(told)
	if err != nil {
		return err
	}
	d := told.Diversity
	if err := w.note(ctx, w.key("discovered"), ledger.Made{What: "discovery", Name: "generation " + itoa(w.g), Hash: account.Name,
		Tell: map[string]string{"kept": itoa(told.Kept), "families in effect": decimal(d.Families.Effective), "structures in effect": decimal(d.Forms.Effective)}}, account); err != nil {
		return err
	}
	if len(f.kept) < 2*w.Expansion.Minibatch {
		return w.end(ctx, fmt.Sprintf("only %d of the tasks that were looked at are worth working on at level %d: the entry discovery says why", len(f.kept), w.Discovery.Level), c.hash)
	}
	t, err := w.list(f.kept)
	if err != nil {
		return err
	}
	return w.note(ctx, w.key("tasks"), ledger.Made{What: "tasks", Name: "generation " + itoa(w.g), Hash: t[0].Name, Tell: map[string]string{"tasks": itoa(len(f.kept)), "never solved": itoa(told.Classes[discovery.Failing])}}, t...)
}

// training lists the families that the loop may see, of the worlds that the run has.
func (w *work) training() []evaluation.Family { return w.families(evaluation.Train) }

func (w *work) families(split evaluation.Split) (all []evaluation.Family) {
	for _, world := range w.Worlds {
		if len(w.Discovery.Worlds) > 0 && !slices.Contains(w.Discovery.Worlds, world.Name()) {
			continue
		}
		for _, f := range world.Families() {
			if w.Evaluation.Splits.Of(world.Name(), f) == split {
				all = append(all, evaluation.Family{World: world.Name(), Name: f})
			}
		}
	}
	return all
}

// make makes a task of a family, of the run's level.
func (w *work) make(of evaluation.Family, seed uint64) (mindforge.Task, error) {
	at := w.Worlds[slices.IndexFunc(w.Worlds, func(x mindforge.World) bool { return x.Name() == of.World })]
	return at.Make(of.Name, w.Discovery.Level, seed)
}

// draw is a number that follows from the run's seed and names.
func (w *work) draw(names ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, append([]any{w.Seed}, names...)...)
	return h.Sum64() >> 16
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
	if f.Source.Kind == discovery.FromRun {
		return remade(f)
	}
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
