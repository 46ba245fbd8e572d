package expansion

import (
	"context"
	"math/rand/v2"
	"slices"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/stat"
)

// Coverage asks which items any contract solves. Every arm goes by rounds: each item that is
// not solved yet gets one attempt, so that arms are compared at equal attempts and by one
// rule. What an arm may choose is the contract of each attempt.
type Coverage struct {
	Seed      uint64
	Rounds    int // attempts of an item, at most
	Actor     mindforge.Actor
	Catalogue *edit.Catalogue
	Base      mindforge.Pair
	Items     []mindforge.Task
	Train     []mindforge.Task // tried before, by the arms that learn from it: as often by each of them
	MaxEdits  int              // of one contract; 0: 6
	Variety   int              // random contracts that controls draw from, and attempts at each task of Train; 0: 64
	AtOnce    int              // as of Search
	Cache     Cache
}

// Tried is one attempt of an arm.
type Tried struct {
	Round   int               `json:"round"` // from 1
	Item    string            `json:"item"`
	Family  string            `json:"family"`
	Edits   []mindforge.Edit  `json:"edits"` // of the base's contract
	Seed    uint64            `json:"seed"`
	Outcome mindforge.Outcome `json:"outcome"`

	by *member
}

// Harvest is what an arm did, in order. Its passes are trajectories to train on.
type Harvest struct {
	Arm   string         `json:"arm"`
	Tries []Tried        `json:"tries"`
	Spent mindforge.Cost `json:"spent"`

	Trained mindforge.Cost `json:"trained"` // spent on other tasks before

	seed uint64
}

// At is a point of a coverage curve.
type At struct {
	Round    int           `json:"round"`
	Attempts int           `json:"attempts"` // of all items up to this round
	Covered  stat.Estimate `json:"covered"`  // share of the items, with its interval over families
}

// Curve is the coverage after each round.
func (h Harvest) Curve(items []mindforge.Task) []At {
	solved, last := map[string]int{}, 0
	for _, t := range h.Tries {
		last = max(last, t.Round)
		if t.Outcome.Pass {
			solved[t.Item] = t.Round
		}
	}
	var out []At
	for round := 1; round <= last; round++ {
		var values []stat.Value
		for _, t := range items {
			y := 0.0
			if at, ok := solved[t.ID]; ok && at <= round {
				y = 1
			}
			values = append(values, stat.Value{Cluster: t.World + "/" + t.Family, Y: y})
		}
		n := 0
		for _, t := range h.Tries {
			if t.Round <= round {
				n++
			}
		}
		out = append(out, At{round, n, stat.Mean(values, 0, 1)})
	}
	return out
}

// Replay tries each pass again on a fresh seed, under the contract that gave it, and gives
// the share that passes again: what was found once may have been luck.
func (c *Coverage) Replay(ctx context.Context, h Harvest) (stat.Estimate, error) {
	e := newEvaluator(c.Actor, c.Cache, c.AtOnce)
	var values []stat.Value
	for _, t := range h.Tries {
		if !t.Outcome.Pass {
			continue
		}
		i := slices.IndexFunc(c.Items, func(x mindforge.Task) bool { return x.ID == t.Item })
		m := t.by
		if m == nil {
			again, err := made(c.Base, t.Edits)
			if err != nil {
				return stat.Estimate{}, err
			}
			m = &again
		}
		outs, err := e.try(ctx, c.Items[i], seedOf(h.seed+1, t.Item, -2), m)
		if err != nil {
			return stat.Estimate{}, err
		}
		values = append(values, stat.Value{Cluster: t.Family, Y: outs[0].Points})
	}
	return stat.Mean(values, 0, 1), nil
}

// chooser gives the contract of an attempt at an item.
type chooser interface {
	choose(r *rand.Rand, round int, t mindforge.Task) (*member, error)
	saw(m *member, t mindforge.Task, o mindforge.Outcome)
}

// run goes through the rounds.
func (c *Coverage) run(ctx context.Context, arm string, by chooser) (Harvest, error) {
	e := newEvaluator(c.Actor, c.Cache, c.AtOnce)
	h := Harvest{Arm: arm, seed: c.Seed}
	left := slices.Clone(c.Items)
	for round := 1; round <= c.Rounds && len(left) > 0; round++ {
		r := source(c.Seed, round)
		var still []mindforge.Task
		chosen, err := c.known(ctx, e, by, r, round, left)
		if err != nil {
			return h, err
		}
		for i, t := range left {
			if ctx.Err() != nil {
				return h, errs.Wrap(errs.Canceled, context.Cause(ctx), "the search was stopped", "outcomes that are kept are not tried again")
			}
			m := chosen[i]
			if m == nil {
				if m, err = by.choose(r, round, t); err != nil {
					return h, err
				}
			}
			seed := seedOf(c.Seed, t.ID, round)
			outs, err := e.try(ctx, t, seed, m)
			if err != nil {
				return h, err
			}
			by.saw(m, t, outs[0])
			h.Tries = append(h.Tries, Tried{round, t.ID, t.Family, m.edits, seed, outs[0], m})
			if !outs[0].Pass {
				still = append(still, t)
			}
		}
		left = still
	}
	h.Spent = e.spent
	return h, nil
}

// known makes the attempts of a round at once, where the choice of each does not wait for what came
// of those before; else no member is chosen yet.
func (c *Coverage) known(ctx context.Context, e *evaluator, by chooser, r *rand.Rand, round int, left []mindforge.Task) ([]*member, error) {
	chosen := make([]*member, len(left))
	if _, blind := by.(fixed); !blind {
		return chosen, nil
	}
	wants := make([]want, len(left))
	for i, t := range left {
		m, err := by.choose(r, round, t)
		if err != nil {
			return nil, err
		}
		chosen[i], wants[i] = m, want{m, t, seedOf(c.Seed, t.ID, round)}
	}
	return chosen, e.ahead(ctx, wants...)
}

// Adaptive chooses by what was seen: Thompson sampling over contracts on each item that is
// not solved, with new contracts in every round.
func (c *Coverage) Adaptive(ctx context.Context, p Proposer) (Harvest, error) {
	base, err := made(c.Base, nil)
	if err != nil {
		return Harvest{}, err
	}
	t := &thompson{c: c, ctx: ctx, proposer: p, belief: newSurrogate(), fit: newFitter(c.Catalogue, c.Base), arms: []*arm{{m: &base, seen: map[string]*tally{}}}}
	e := newEvaluator(c.Actor, c.Cache, c.AtOnce)
	for round := range c.variety() {
		r := source(c.Seed, -2-round)
		for _, task := range c.Train {
			if err := c.practise(ctx, e, t, r, round, task); err != nil {
				return Harvest{}, err
			}
		}
	}
	t.round = 0
	h, err := c.run(ctx, "adaptive", t)
	h.Trained = e.spent
	return h, err
}

// practise makes one attempt on the tasks to learn from.
func (c *Coverage) practise(ctx context.Context, e *evaluator, t *thompson, r *rand.Rand, round int, task mindforge.Task) error {
	if ctx.Err() != nil {
		return errs.Wrap(errs.Canceled, context.Cause(ctx), "the search was stopped", "outcomes that are kept are not tried again")
	}
	m, err := t.choose(r, 1+round, task)
	if err != nil {
		return err
	}
	outs, err := e.try(ctx, task, seedOf(c.Seed, task.ID, -100-round), m)
	if err == nil {
		t.saw(m, task, outs[0])
	}
	return err
}

func (c *Coverage) most() int {
	if c.MaxEdits == 0 {
		return 6
	}
	return c.MaxEdits
}
