package loop

import (
	"context"
	"fmt"

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
	x := &expander{w, c, train, valid, 0}
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
	done         int
}

// total is about how many attempts the stage makes.
func (x *expander) total() int {
	n := 0
	if x.Arm != Weights {
		n += x.Expansion.Attempts
		if x.Expansion.Controls {
			n += x.Expansion.Attempts
		}
	}
	return n + x.Expansion.Coverage*len(x.train)
}

func (x *expander) settings() expansion.Settings {
	e := x.Expansion
	return expansion.Settings{Seed: x.draw("search", x.g), Attempts: e.Attempts, Minibatch: e.Minibatch, Generation: x.g, Greedy: e.Greedy, MaxEdits: e.MaxEdits, AtOnce: x.AtOnce}
}

// search looks for one contract, and says what a random search of the same attempts finds.
func (x *expander) search(ctx context.Context, tell map[string]string) error {
	o := x.outcomes(ctx, "search", x.done, x.total())
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
	o := x.outcomes(ctx, "random", x.done, x.total())
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
	arms := []struct {
		name string
		do   func() (expansion.Harvest, error)
	}{
		{"adaptive", func() (expansion.Harvest, error) { return c.Adaptive(ctx, x.Proposer) }},
		{"resampled", func() (expansion.Harvest, error) { return c.Resampled(ctx) }},
		{"random", func() (expansion.Harvest, error) { return c.Random(ctx) }},
		{"portfolio", func() (expansion.Harvest, error) { return c.Portfolio(ctx) }},
	}
	switch {
	case x.Arm == Weights:
		arms = arms[1:2] // the contract stays, also where trajectories are made
	case !x.Expansion.Controls:
		arms = arms[:1]
	}
	for _, a := range arms {
		o := x.outcomes(ctx, "coverage-"+a.name, x.done, x.total())
		c.Cache = o
		h, err := a.do()
		if err != nil {
			return err
		}
		if err := o.flush(); err != nil {
			return err
		}
		x.done = o.done
		if err := x.harvest(ctx, a.name, h); err != nil {
			return err
		}
		if curve := h.Curve(x.train); len(curve) > 0 {
			tell["coverage "+a.name] = decimal(curve[len(curve)-1].Covered.Mean)
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
	t, err := plain(h.Tries)
	if err != nil {
		return err
	}
	return x.note(ctx, x.key("harvest/%s", name), ledger.Made{What: "harvest", Name: name, Hash: t.Name, Tell: map[string]string{"tries": itoa(len(h.Tries))}}, t)
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
