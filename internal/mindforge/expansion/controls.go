package expansion

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
)

// Coverage is a union: tries of one contract cover more than it passes at a time, without
// any adaptation. So these are run at equal attempts beside every search, and reported.

// fixed is a chooser that looks at nothing.
type fixed func(r *rand.Rand, round int, t mindforge.Task) (*member, error)

func (f fixed) choose(r *rand.Rand, round int, t mindforge.Task) (*member, error) {
	return f(r, round, t)
}
func (fixed) saw(*member, mindforge.Task, mindforge.Outcome) {}

// Resampled tries the base's contract again and again.
func (c *Coverage) Resampled(ctx context.Context) (Harvest, error) {
	base, err := made(c.Base, nil)
	if err != nil {
		return Harvest{}, err
	}
	return c.run(ctx, "same contract", fixed(func(*rand.Rand, int, mindforge.Task) (*member, error) { return &base, nil }))
}

// variety is how many random contracts a control draws from, where nothing is said: more than it
// has rounds, so that an item hardly meets one twice.
func (c *Coverage) variety() int { return cmp.Or(c.Variety, 64) }

// Random tries random contracts of the catalogue.
func (c *Coverage) Random(ctx context.Context) (Harvest, error) {
	pool, err := c.drawn(source(c.Seed, -1), c.variety())
	if err != nil {
		return Harvest{}, err
	}
	return c.run(ctx, "random contracts", fixed(func(r *rand.Rand, _ int, _ mindforge.Task) (*member, error) { return pool[r.IntN(len(pool))], nil }))
}

// Portfolio tries, in turn, so many fixed contracts as there are rounds, those that together
// solve the most of Train: the greedy set cover of random contracts (Chvátal 1979). What it
// spends on Train is told apart.
func (c *Coverage) Portfolio(ctx context.Context) (Harvest, error) {
	pool, err := c.drawn(source(c.Seed, -1), c.variety())
	if err != nil {
		return Harvest{}, err
	}
	e := newEvaluator(c.Actor, c.Cache, c.AtOnce)
	solves := make([]map[string]bool, len(pool))
	for i, m := range pool {
		solves[i] = map[string]bool{}
		if err := e.ahead(ctx, over(m, c.Train, func(t mindforge.Task) uint64 { return seedOf(c.Seed, t.ID, -3) })...); err != nil {
			return Harvest{}, err
		}
		for _, t := range c.Train {
			outs, err := e.try(ctx, t, seedOf(c.Seed, t.ID, -3), m)
			if err != nil {
				return Harvest{}, err
			}
			if outs[0].Pass {
				solves[i][t.ID] = true
			}
		}
	}
	chosen := cover(pool, solves, c.Rounds)
	h, err := c.run(ctx, "best fixed portfolio", fixed(func(_ *rand.Rand, round int, _ mindforge.Task) (*member, error) {
		return chosen[(round-1)%len(chosen)], nil
	}))
	h.Trained = e.spent
	return h, err
}

// cover takes the contract that solves the most of what is left, again and again; where
// nothing is left to solve it begins anew with all.
func cover(pool []*member, solves []map[string]bool, k int) []*member {
	var out []*member
	done := map[string]bool{}
	for len(out) < k {
		best, top := -1, 0
		for i := range pool {
			n := 0
			for id := range solves[i] {
				if !done[id] {
					n++
				}
			}
			if n > top {
				best, top = i, n
			}
		}
		if best < 0 && len(done) == 0 {
			return append(out, pool[0])
		}
		if best < 0 {
			clear(done)
			continue
		}
		out = append(out, pool[best])
		for id := range solves[best] {
			done[id] = true
		}
	}
	return out
}

// drawn draws random contracts: a random number of committed edits of different components.
func (c *Coverage) drawn(r *rand.Rand, n int) ([]*member, error) {
	fit := newFitter(c.Catalogue, c.Base)
	var out []*member
	for len(out) < n {
		m, err := fit.random(r, 1+r.IntN(c.most()))
		if err != nil {
			return nil, err
		}
		out = append(out, &m)
	}
	return out, nil
}

// random makes a random contract: so many committed edits of different components, or fewer.
func (f *fitter) random(r *rand.Rand, n int) (member, error) {
	var edits []mindforge.Edit
	fit := f.committed()
	for _, i := range r.Perm(len(fit)) {
		if len(edits) == n {
			break
		}
		if !slices.ContainsFunc(edits, func(o mindforge.Edit) bool { return edit.Meet(o, fit[i]) }) {
			edits = append(edits, fit[i])
		}
	}
	return f.made(edits)
}

// RandomSearch is the control of the search for one contract: random contracts of the
// catalogue, each measured on validation once, until the attempts are spent; the best is
// taken. It tells the mean that the best was chosen by, and its mean on fresh seeds; Agreed
// is what the model of the search would make of the same attempts, and is not measured.
func (s *Search) RandomSearch(ctx context.Context) (Result, error) {
	if err := s.begin(ctx); err != nil {
		return Result{}, err
	}
	idle := 0
	for n := 0; s.eval.spent.Attempts+2*len(s.Valid) <= s.Attempts && idle < maxIdle; n++ {
		r := source(s.Seed, n)
		m, err := s.fit.random(r, 1+r.IntN(s.MaxEdits))
		if err != nil {
			return Result{}, err
		}
		if s.known[m.hash] {
			idle++
			continue
		}
		s.known[m.hash], idle = true, 0
		if _, err := m.candidate(mindforge.Candidate{Edits: m.edits, Operator: mindforge.Restart, Proposer: "random", Seed: uint64(n)}); err != nil {
			return Result{}, err
		}
		if _, err := s.validate(ctx, &m); err != nil {
			return Result{}, err
		}
	}
	best := s.ranked()[0]
	again, err := s.again(ctx, best)
	if err != nil {
		return Result{}, err
	}
	agreed, err := s.fit.made(s.agreement())
	return Result{Agreed: agreed.pair, Best: best.pair, Name: best.name, Edits: best.edits, Chosen: s.matrix.Mean(best.name), Replayed: mean(again), Spent: s.eval.spent, Found: s.eval.found}, err
}
