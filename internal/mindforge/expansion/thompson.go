package expansion

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
)

// thompson chooses, for each item that is not solved, the contract with the best draw from
// what is believed of it in the item's family.
type thompson struct {
	c        *Coverage
	ctx      context.Context //nolint:containedctx // of one run, which is over when the run is
	proposer Proposer
	belief   *surrogate
	fit      *fitter
	arms     []*arm
	round    int
	traces   []Trace // of items that are not solved, the last first
}

// arm is one contract and how it did.
type arm struct {
	m    *member
	all  tally
	seen map[string]*tally // by family
}

type tally struct{ passes, fails float64 }

// newcomers is how many contracts each round adds.
const newcomers = 3

func (t *thompson) choose(r *rand.Rand, round int, task mindforge.Task) (*member, error) {
	if round > t.round {
		t.round = round
		for range newcomers {
			t.grow(r)
		}
	}
	best, top := t.arms[0], -1.0
	for _, a := range t.arms {
		if x := a.draw(r, task.Family); x > top {
			best, top = a, x
		}
	}
	return best.m, nil
}

// draw is from a beta distribution about the family's passes, which leans on all families'
// as on two attempts.
func (a *arm) draw(r *rand.Rand, family string) float64 {
	share := (1 + a.all.passes) / (2 + a.all.passes + a.all.fails)
	k := tally{}
	if s := a.seen[family]; s != nil {
		k = *s
	}
	return beta(r, 2*share+k.passes, 2*(1-share)+k.fails)
}

// grow adds a contract: one edit more, proposed from failures, on the contract that did best;
// or one made anew from what is believed of single edits.
func (t *thompson) grow(r *rand.Rand) {
	var m member
	var err error
	if r.IntN(2) == 0 {
		m, err = made(t.c.Base, t.proposed(r))
	} else {
		m, err = t.fit.made(t.anew(r))
	}
	if err == nil && !slices.ContainsFunc(t.arms, func(a *arm) bool { return a.m.hash == m.hash }) {
		t.arms = append(t.arms, &arm{m: &m, seen: map[string]*tally{}})
	}
}

func (t *thompson) proposed(r *rand.Rand) []mindforge.Edit {
	on := t.arms[r.IntN(len(t.arms))]
	for range 2 { // the better of some
		if o := t.arms[r.IntN(len(t.arms))]; o.all.passes*(1+on.all.fails) > on.all.passes*(1+o.all.fails) {
			on = o
		}
	}
	ask := t.fit.ask(on.m, r.Uint64())
	ask.Traces = slices.Clone(t.traces)
	p, err := t.proposer.Propose(t.ctx, ask)
	if err != nil || p.check() != nil || t.c.Catalogue.Admit(p.Edit, false) != nil {
		return nil
	}
	return with(on.m.edits, p.Edit)
}

// anew takes the edits with the best draws, a random number of them.
func (t *thompson) anew(r *rand.Rand) []mindforge.Edit {
	all := t.fit.committed()
	columns := make([]int, len(all))
	for i, e := range all {
		columns[i] = t.belief.edit(e)
	}
	drawn := t.belief.draw(r)
	w := make([]float64, len(all))
	for i, c := range columns {
		w[i] = drawn[c]
	}
	var edits []mindforge.Edit
	for _, i := range ordered(w) {
		if len(edits) > r.IntN(t.c.most()) {
			break
		}
		if !slices.ContainsFunc(edits, func(o mindforge.Edit) bool { return edit.Meet(o, all[i]) }) {
			edits = append(edits, all[i])
		}
	}
	return edits
}

func (t *thompson) saw(m *member, task mindforge.Task, o mindforge.Outcome) {
	i := slices.IndexFunc(t.arms, func(a *arm) bool { return a.m == m })
	a := t.arms[i]
	if a.seen[task.Family] == nil {
		a.seen[task.Family] = &tally{}
	}
	for _, k := range []*tally{&a.all, a.seen[task.Family]} {
		k.passes, k.fails = k.passes+o.Points, k.fails+1-o.Points
	}
	t.belief.add(m.edits, task.Family, o.Points)
	if !o.Pass {
		t.traces = append([]Trace{{task.Family, task.Instruction, o.Pass, o.Failure, o.Evidence}}, t.traces...)
		t.traces = t.traces[:min(len(t.traces), maxTraces)]
	}
}

// beta draws from a beta distribution, by two gamma ones.
func beta(r *rand.Rand, a, b float64) float64 {
	x, y := gamma(r, a), gamma(r, b)
	return x / (x + y)
}

// gamma draws from a gamma distribution of shape a > 0 (Marsaglia and Tsang 2000).
func gamma(r *rand.Rand, a float64) float64 {
	if a < 1 {
		return gamma(r, a+1) * math.Pow(1-r.Float64(), 1/a)
	}
	d := a - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := math.Pow(1+c*x, 3)
		if v > 0 && math.Log(1-r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
