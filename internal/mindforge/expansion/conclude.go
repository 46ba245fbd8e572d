package expansion

import (
	"context"
	"math"
	"slices"

	"macaron/internal/mindforge"
)

// finalists is how many candidates are tried again before one is chosen.
const finalists = 2

// reserve is what the end of a search takes: the agreed candidate on validation, and it and
// the finalists again.
func (s *Search) reserve() int { return reserve(len(s.Valid)) }

func reserve(valid int) int { return (2 + finalists) * valid }

// Least is how many attempts a search needs that validates on so many tasks: the base on each, and
// what its end takes.
func Least(valid int) int { return valid + reserve(valid) }

// conclude measures the contract that all attempts together speak for, then tries it and the
// best candidates again on fresh seeds. The best of many by the numbers that it was chosen by
// is partly the luckiest (the winner's curse); so one of them is taken only where it does
// better than the agreed one on fresh seeds by more than chance would.
func (s *Search) conclude(ctx context.Context) (Result, error) {
	agreed, err := s.agreed(ctx)
	if err != nil {
		return Result{}, err
	}
	best := agreed
	for _, m := range s.ranked()[:min(finalists, len(s.pool))] {
		if m == best {
			continue
		}
		better, err := s.beats(ctx, m, best)
		if err != nil {
			return Result{}, err
		}
		if better {
			best = m
		}
	}
	replayed, err := s.again(ctx, best)
	if err != nil {
		return Result{}, err
	}
	return Result{Best: best.pair, Name: best.name, Edits: best.edits, Agreed: agreed.pair, Chosen: s.matrix.Mean(best.name), Replayed: mean(replayed), Steps: s.steps,
		Spent: s.eval.spent, Found: s.eval.found, Predicted: Calibrate(s.steps)}, nil
}

// beats compares two members on fresh seeds of validation: the one wins more items than it
// loses by more than the standard deviation of a fair coin.
func (s *Search) beats(ctx context.Context, m, other *member) (bool, error) {
	a, err := s.again(ctx, m)
	if err != nil {
		return false, err
	}
	b, err := s.again(ctx, other)
	if err != nil {
		return false, err
	}
	lead, discordant := 0.0, 0.0
	for i := range a {
		lead, discordant = lead+a[i]-b[i], discordant+math.Abs(a[i]-b[i])
	}
	return lead > math.Sqrt(discordant), nil
}

// sure is how many deviations above nothing the mean of an edit has to be to be agreed on.
const sure = 0.5

// agreed measures the contract of all edits that the search believes to help. It is the base
// where there are none.
func (s *Search) agreed(ctx context.Context) (*member, error) {
	m, err := s.fit.made(s.agreement())
	if err != nil {
		return s.ranked()[0], nil //nolint:nilerr // edits that do not go together are no candidate
	}
	for _, o := range s.pool {
		if o.hash == m.hash {
			return o, nil
		}
	}
	if _, err := m.candidate(mindforge.Candidate{Edits: m.edits, Operator: mindforge.Restart, Proposer: "search", Seed: s.Seed, Generation: s.Generation}); err != nil {
		return nil, err
	}
	_, err = s.validate(ctx, &m)
	return &m, err
}

// agreement lists the edits that the search believes to help.
func (s *Search) agreement() []mindforge.Edit {
	all := s.fit.committed()
	w, deviation := s.weigh(nil, all), s.belief.deviation()
	least := make([]float64, len(all))
	for i, e := range all {
		least[i] = sure * deviation[s.belief.edit(e)]
	}
	return s.worth(all, w, least)
}

// ranked is the pool, the best first.
func (s *Search) ranked() []*member {
	out := slices.Clone(s.pool)
	slices.SortStableFunc(out, func(a, b *member) int { return sign(s.matrix.Mean(b.name) - s.matrix.Mean(a.name)) })
	return out
}

// again gives a member's points on validation on fresh seeds.
func (s *Search) again(ctx context.Context, m *member) ([]float64, error) {
	out := make([]float64, len(s.Valid))
	if err := s.eval.ahead(ctx, over(m, s.Valid, func(t mindforge.Task) uint64 { return seedOf(s.Seed, t.ID, -1) })...); err != nil {
		return nil, err
	}
	for i, t := range s.Valid {
		outs, err := s.eval.try(ctx, t, seedOf(s.Seed, t.ID, -1), m)
		if err != nil {
			return nil, err
		}
		out[i] = outs[0].Points
	}
	return out, nil
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(1, len(x)))
}
