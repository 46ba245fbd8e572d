package expansion_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/scripted"
)

// The search finds the planted improvements in half the attempts in which random contracts
// of the same catalogue do not. The distribution over many problems: make forge-search-bench.
func TestSearchFindsWhatIsPlanted(t *testing.T) {
	const seeds = 2
	found, harm, random := 0.0, 0.0, 0.0
	for seed := range uint64(seeds) {
		p, s := problem(t, seed, 2000)
		r, err := s.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if r.Spent.Attempts > s.Attempts+8 {
			t.Errorf("%d attempts were made of %d", r.Spent.Attempts, s.Attempts)
		}
		found, harm = found+p.Recall(r.Best.Contract)/seeds, harm+p.Harm(r.Best.Contract)/seeds
		_, s = problem(t, seed, 4000)
		c, err := s.RandomSearch(ctx)
		if err != nil {
			t.Fatal(err)
		}
		random += p.Recall(c.Best.Contract) / seeds
	}
	t.Logf("recall %.2f, harmful %.2f; random search with twice the attempts %.2f", found, harm, random)
	if found < 0.9 || harm > 0.1 || random >= 0.9 {
		t.Errorf("recall %.2f, harmful %.2f; random search with twice the attempts %.2f", found, harm, random)
	}
}

// A search that was cut short goes on from its steps and its cache to the same end: it asks
// for no proposal and makes no attempt twice.
func TestSearchGoesOn(t *testing.T) {
	_, whole := problem(t, 7, 700)
	var steps []expansion.Step
	whole.Told = func(s expansion.Step) error { steps = append(steps, s); return nil }
	want, err := whole.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{1, 60, 333, 650} {
		_, s := problem(t, 7, 700)
		cut, cache, past := errors.New("killed"), &expansion.Memory{}, []expansion.Step(nil)
		actor := &counting{Actor: s.Actor, most: most, fail: cut}
		s.Actor, s.Cache = actor, cache
		s.Told = func(x expansion.Step) error { past = append(past, x); return nil }
		if _, err := s.Run(ctx); !errors.Is(err, cut) {
			t.Fatal(err)
		}
		_, again := problem(t, 7, 700)
		rest := &counting{Actor: again.Actor}
		again.Actor, again.Cache, again.Past = rest, cache, past
		told := len(past)
		again.Told = func(x expansion.Step) error {
			if x.N != told {
				t.Errorf("step %d is told behind %d", x.N, told)
			}
			told++
			return nil
		}
		got, err := again.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(steps, got.Steps); diff != "" || got.Name != want.Name || got.Spent != want.Spent {
			t.Errorf("cut after %d attempts, it comes to another end: %s", most, diff)
		}
		if rest.made != want.Spent.Attempts-most {
			t.Errorf("%d attempts were made again", rest.made-want.Spent.Attempts+most)
		}
	}
	_, other := problem(t, 8, 700)
	other.Past = steps
	if _, err := other.Run(ctx); err == nil {
		t.Error("a search goes on from the steps of another one")
	}
}

// What is proposed is data: broken, hostile and unknown edits stop at their step, cost no
// attempt, and the search goes on.
func TestProposalsAreNotTrusted(t *testing.T) {
	p, s := problem(t, 9, 600)
	s.Rates = expansion.Rates{Reflect: 1}
	s.Proposer = scripted.Hostile{Tasks: s.Train}
	r, err := s.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range r.Steps {
		if step.Stopped == "" || len(step.Items) > 0 {
			t.Errorf("%v was run", step.Proposal.Edit)
		}
	}
	if r.Best.Contract.Hash() != p.Base.Contract.Hash() || len(r.Steps) == 0 {
		t.Error("a hostile proposer moved the contract")
	}
	_, s = problem(t, 9, 600)
	s.Rates, s.Free = expansion.Rates{Reflect: 1}, true
	s.Proposer = scripted.Writer{Of: scripted.Reflective{Skill: 0.6}, Spoiled: 0.4}
	if r, err = s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	read, refused := 0, 0
	for _, step := range r.Steps {
		if len(step.Items) > 0 {
			read++
		} else {
			refused++
		}
	}
	if read < 10 || refused < 5 {
		t.Errorf("%d proposals were run and %d were not", read, refused)
	}
}

// Where the machinery fails both arms are tried again, and the failure is no outcome.
func TestBrokenMachineryIsNoOutcome(t *testing.T) {
	p, s := problem(t, 10, 500)
	p.Policy.Broken = 0.1
	if _, err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	_, s = problem(t, 10, 500)
	s.Actor.(*scripted.Policy).Broken = 1
	if _, err := s.Run(ctx); err == nil {
		t.Error("nothing works, and there is a result")
	}
}

// Of candidates that are all the same the best looks better than it is; tried again on fresh
// seeds it does not (the winner's curse).
func TestReplayTakesTheWinnersCurseAway(t *testing.T) {
	best, again, truth, n := 0.0, 0.0, 0.0, 6.0
	for seed := range uint64(n) {
		p, s := problem(t, seed, 3000)
		p.Policy.Effects = nil // no edit does anything
		for f, x := range p.Policy.Families {
			x.Tools, x.Turns = nil, 0
			p.Policy.Families[f] = x
		}
		r, err := s.RandomSearch(ctx)
		if err != nil {
			t.Fatal(err)
		}
		rate, err := p.Policy.Rate(p.Base, s.Valid)
		if err != nil {
			t.Fatal(err)
		}
		best, again, truth = best+r.Chosen/n, again+r.Replayed/n, truth+rate/n
	}
	t.Logf("true %.3f, the best of 70 %.3f, tried again %.3f", truth, best, again)
	if best < truth+0.08 || again > truth+0.05 || again < truth-0.08 {
		t.Errorf("true %.3f, the best of many %.3f, tried again %.3f", truth, best, again)
	}
}

// Predictions are scored against what was seen on validation.
func TestPredictionsAreScored(t *testing.T) {
	step := func(stopped string, p mindforge.Prediction, up, down []string, gain float64) expansion.Step {
		return expansion.Step{Stopped: stopped, Candidate: mindforge.Candidate{Prediction: p}, Up: up, Down: down, Gain: gain}
	}
	c := expansion.Calibrate([]expansion.Step{
		step("", mindforge.Prediction{Fixes: []string{"a", "b"}, Regress: []string{"c"}, Gain: 0.2}, []string{"a", "d"}, []string{"e"}, 0.1),
		step("", mindforge.Prediction{Fixes: []string{"a"}, Gain: 0.1}, []string{"a"}, nil, 0.2),
		step("", mindforge.Prediction{}, []string{"a"}, nil, 0.5),
		step("minibatch", mindforge.Prediction{Fixes: []string{"a"}, Gain: 1}, nil, nil, 0),
	})
	if c.Scored != 2 || c.Fixes.Precision.K != 2 || c.Fixes.Precision.N != 3 || c.Fixes.Recall.N != 3 || c.Regress.Precision.N != 1 || c.Regress.Precision.K != 0 {
		t.Errorf("%+v", c)
	}
	if c.Off < 0.0999 || c.Off > 0.1001 || c.Predicted != 0.15000000000000002 && c.Predicted != 0.15 {
		t.Errorf("%+v", c)
	}
}

// A label of numbers alone, and nothing more, is given to tuning.
func TestTuningIsLabelled(t *testing.T) {
	_, s := problem(t, 11, 900)
	s.Rates = expansion.Rates{Mutate: 1}
	r, err := s.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, step := range r.Steps {
		if step.Tuning != edit.Tuning(step.Candidate.Edits) {
			t.Errorf("%+v", step)
		}
		if step.Gain > 0 && len(step.Up) == 0 || step.Gain < 0 && len(step.Down) == 0 {
			t.Errorf("the mean moved by %.3f, up %v, down %v", step.Gain, step.Up, step.Down)
		}
		if step.Tuning {
			seen++
		}
	}
	if seen == 0 {
		t.Error("no candidate changed numbers alone")
	}
}
