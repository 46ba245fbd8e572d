package loop

import (
	"context"
	"fmt"
	"slices"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/ledger"
)

// expand searches with frozen weights: one contract for all tasks, then any contract that solves
// a task; with the controls of each at as many attempts.
func (w *work) expand(ctx context.Context) error {
	if w.Arm == None || w.has(w.key("expansion")) {
		return nil
	}
	c, err := w.champion(ctx)
	if err != nil {
		return err
	}
	train, valid, from, err := w.tasks(ctx)
	if err != nil {
		return err
	}
	x := &expander{w, c, train, valid, 0, nil}
	x.parts = w.parts(len(train), len(valid))
	tell := map[string]string{}
	if w.Arm != Weights {
		err = x.search(ctx, tell)
	}
	if err == nil && w.Expansion.Coverage > 0 {
		err = x.cover(ctx, tell)
	}
	if err != nil {
		return w.outOfBudget(ctx, err)
	}
	return w.note(ctx, w.key("expansion"), ledger.Made{What: "search", Name: "generation " + itoa(w.g), Hash: from, From: []ledger.Source{{What: "tasks", Hash: from}, {What: "candidate", Name: "champion", Hash: c.hash}}, Tell: tell})
}

type expander struct {
	*work
	champion     entered
	train, valid []mindforge.Task
	done         int // attempts of the parts that are done
	parts        []part
}

// part is one of what the stage does, with the attempts that it makes: about so many, or at most.
type part struct {
	name string
	most int
}

// parts lists what the stage does, controls included, where so many tasks are shown to proposers and
// so many decide.
func (s Settings) parts(shown, decides int) (all []part) {
	if s.Arm == None {
		return nil
	}
	if s.Arm != Weights {
		all = append(all, part{"search", s.Expansion.Attempts})
		if s.Expansion.Controls {
			all = append(all, part{"random", s.Expansion.Attempts})
		}
	}
	if s.Expansion.Coverage > 0 {
		rounds, learned := s.Expansion.Coverage*shown, s.Expansion.Variety*decides
		for _, arm := range s.arms() {
			n := rounds
			if arm == "adaptive" || arm == "portfolio" {
				n += learned
			}
			all = append(all, part{"coverage-" + arm, n})
		}
	}
	return all
}

// arms of coverage that the run has.
func (s Settings) arms() []string {
	switch {
	case s.Arm == Weights:
		return []string{"resampled"} // the contract stays, also where trajectories are made
	case !s.Expansion.Controls:
		return []string{"adaptive"}
	}
	return []string{"adaptive", "resampled", "random", "portfolio"}
}

// part are the outcomes of a part. The stage's total has what the parts before have made, and what
// this one and those behind it may make.
func (x *expander) part(ctx context.Context, name string) *outcomes {
	i := slices.IndexFunc(x.parts, func(p part) bool { return p.name == name })
	total := x.done
	for _, p := range x.parts[i:] {
		total += p.most
	}
	o := x.outcomes(ctx, name, x.done, total)
	o.part = fmt.Sprintf("%s (%d of %d, at most %d attempts)", name, i+1, len(x.parts), x.parts[i].most)
	return o
}

func (x *expander) settings() expansion.Settings {
	e := x.Expansion
	return expansion.Settings{Seed: x.draw("search", x.g), Attempts: e.Attempts, Minibatch: e.Minibatch, Generation: x.g, Greedy: e.Greedy, MaxEdits: e.MaxEdits, AtOnce: x.AtOnce}
}

// search looks for one contract, and says what a random search of the same attempts finds.
func (x *expander) search(ctx context.Context, tell map[string]string) error {
	o := x.part(ctx, "search")
	past, err := x.past(ctx)
	if err != nil {
		return err
	}
	s := &expansion.Search{Settings: x.settings(), Actor: x.Actor, Catalogue: x.Catalogue, Proposer: x.Proposer, Base: x.champion.Pair, Train: x.train, Valid: x.valid, Cache: o, Past: past,
		Told: func(s expansion.Step) error { return x.told(o, s) }}
	r, err := s.Run(ctx)
	if err != nil {
		return err
	}
	if err := o.flush(); err != nil {
		return err
	}
	x.done = o.done
	tell["chosen"], tell["replayed"], tell["steps"] = decimal(r.Chosen), decimal(r.Replayed), itoa(len(r.Steps))
	if x.Expansion.Controls {
		if err := x.random(ctx, tell); err != nil {
			return err
		}
	}
	if len(r.Edits) == 0 {
		return nil // the champion is the best that was found
	}
	h, err := x.candidate(ctx, x.key("found"), mindforge.Candidate{Contract: r.Best.Contract.Hash(), Revisions: x.champion.Pair.Revisions, Parents: parents(x.champion), Operator: mindforge.Reflect, Edits: r.Edits,
		Proposer: x.Proposer.Name(), Seed: s.Seed, Generation: x.g}, r.Best.Contract)
	tell["found"] = string(h)
	return err
}

func (x *expander) random(ctx context.Context, tell map[string]string) error {
	o := x.part(ctx, "random")
	s := &expansion.Search{Settings: x.settings(), Actor: x.Actor, Catalogue: x.Catalogue, Proposer: expansion.Uniform{}, Base: x.champion.Pair, Train: x.train, Valid: x.valid, Cache: o}
	s.Seed = x.draw("random", x.g)
	r, err := s.RandomSearch(ctx)
	if err == nil {
		err = o.flush()
	}
	x.done = o.done
	tell["random chosen"], tell["random replayed"] = decimal(r.Chosen), decimal(r.Replayed)
	return err
}

// cover harvests passes, for training and for the curve of coverage.
func (x *expander) cover(ctx context.Context, tell map[string]string) error {
	c := &expansion.Coverage{Seed: x.draw("coverage", x.g), Rounds: x.Expansion.Coverage, Actor: x.Actor, Catalogue: x.Catalogue, Base: x.champion.Pair, Items: x.train, Train: x.valid, Variety: x.Expansion.Variety, AtOnce: x.AtOnce}
	do := map[string]func() (expansion.Harvest, error){
		"adaptive":  func() (expansion.Harvest, error) { return c.Adaptive(ctx, x.Proposer) },
		"resampled": func() (expansion.Harvest, error) { return c.Resampled(ctx) },
		"random":    func() (expansion.Harvest, error) { return c.Random(ctx) },
		"portfolio": func() (expansion.Harvest, error) { return c.Portfolio(ctx) },
	}
	for _, arm := range x.arms() {
		o := x.part(ctx, "coverage-"+arm)
		c.Cache = o
		h, err := do[arm]()
		if err != nil {
			return err
		}
		if err := o.flush(); err != nil {
			return err
		}
		x.done = o.done
		if err := x.harvest(ctx, arm, h); err != nil {
			return err
		}
		if curve := h.Curve(x.train); len(curve) > 0 {
			tell["coverage "+arm] = decimal(curve[len(curve)-1].Covered.Mean)
		}
	}
	return nil
}

// harvest keeps what an arm did.
func (x *expander) harvest(ctx context.Context, name string, h expansion.Harvest) error {
	for i := range h.Tries {
		o := &h.Tries[i].Outcome
		o.Cost.CPUMS, o.Cost.WallMS, o.Run = 0, 0, ""
	}
	t, err := x.list(h.Tries)
	if err != nil {
		return err
	}
	return x.note(ctx, x.key("harvest/%s", name), ledger.Made{What: "harvest", Name: name, Hash: t[0].Name, Tell: map[string]string{"tries": itoa(len(h.Tries))}}, t...)
}

// past reads the steps of a search that was cut short.
func (x *expander) past(ctx context.Context) (all []expansion.Step, err error) {
	for {
		m, ok := x.bodies[x.key("step/%05d", len(all))].(ledger.Made)
		if !ok {
			return all, nil
		}
		var s expansion.Step
		if err := x.read(ctx, m.Hash, &s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
}

// told keeps a step: the candidate that was proposed, what was refused of it, and how far it came.
func (x *expander) told(o *outcomes, s expansion.Step) error {
	s.Spent.CPUMS, s.Spent.WallMS = 0, 0
	t, err := plain(s)
	if err != nil {
		return err
	}
	if s.Name != "" {
		o.later(x.key("step/%05d/candidate", s.N), ledger.Candidate{Hash: s.Name, Candidate: s.Candidate})
	}
	for i, f := range s.Lint {
		if f.Refuses() {
			o.later(x.key("step/%05d/refused/%d", s.N, i), ledger.Refused{What: "edit: " + string(f.Rule), Why: f.Detail, By: x.Proposer.Name(), Candidate: s.Name})
		}
	}
	o.later(x.key("step/%05d", s.N), ledger.Made{What: "step", Name: orElse(s.Stopped, "validation"), Hash: t.Name,
		Tell: map[string]string{"parent": decimal(s.Parent), "child": decimal(s.Child), "mean": decimal(s.Mean)}}, t)
	x.point("step")
	return nil
}

func decimal(x float64) string { return fmt.Sprintf("%.4f", x) }

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
