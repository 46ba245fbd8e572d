package gatetest

import (
	"math/rand/v2"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/gate"
)

// Through counts how many of n candidates pass minibatch, validation and the first sealed test of
// a contract as it stands: its items, over as many families as it has in the worlds. The primary
// suites are drawn by one truth, what must not get worse by another.
func Through(c *evaluation.Contract, worlds []mindforge.World, better, other Truth, n int, seed uint64) (int, error) {
	passed := 0
	for i := range n {
		ok, err := through(c, worlds, better, other, rand.New(rand.NewPCG(seed, uint64(i))))
		if err != nil {
			return 0, err
		}
		if ok {
			passed++
		}
	}
	return passed, nil
}

func through(c *evaluation.Contract, worlds []mindforge.World, better, other Truth, r *rand.Rand) (bool, error) {
	for _, s := range []struct {
		stage mindforge.Stage
		split evaluation.Split
		items int // of a primary suite; 0: its own
	}{{mindforge.Minibatch, evaluation.Train, c.Gates.Minibatch.Items}, {mindforge.Validation, evaluation.Validation, c.Gates.Validation.Items}, {mindforge.Sealed, evaluation.Sealed, 0}} {
		e := gate.Evidence{Test: 1, Safety: Safe(4)}
		for _, suite := range c.Suites {
			t := other
			if suite.Role == "primary" {
				t = better
				if s.items > 0 {
					suite.Items = s.items
				}
			} else if s.stage == mindforge.Minibatch {
				continue
			}
			t.Items, t.Families = suite.Items, len(c.Families(suite, worlds, s.split))
			e.Slices = append(e.Slices, t.Slice(r, suite))
		}
		v, err := gate.Decide(c, s.stage, e)
		if err != nil || !v.Pass {
			return false, err
		}
	}
	return true, nil
}
