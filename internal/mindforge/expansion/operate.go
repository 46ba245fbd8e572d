package expansion

import (
	"context"
	"math/rand/v2"
	"slices"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
)

// draft is a candidate before it is measured.
type draft struct {
	member
	parent   *member
	proposal Proposal
	written  mindforge.Candidate
}

// draft chooses an operator and a parent, and makes their candidate.
func (s *Search) draft(ctx context.Context, n int, r *rand.Rand) (draft, error) {
	op := s.operator(r)
	d := draft{parent: s.parent(r), written: mindforge.Candidate{Operator: op, Proposer: "search", Seed: s.Seed, Generation: s.Generation}}
	parents := []ids.Digest{d.parent.name}
	var edits []mindforge.Edit
	var err error
	to := func(edits []mindforge.Edit) (member, error) { return made(s.Base, edits) }
	switch op {
	case mindforge.Reflect:
		edits, err = s.reflect(ctx, n, r, &d)
	case mindforge.Mutate:
		edits, err = s.mutate(r, &d)
	case mindforge.Merge:
		other := s.parent(r)
		parents = append(parents, other.name)
		edits, err = edit.Merge(d.parent.edits, other.edits)
	case mindforge.Ablate:
		edits, err = s.ablate(r, d.parent)
	default:
		d.parent = s.ranked()[0] // that it has to beat; it comes from the base
		parents, edits, to = []ids.Digest{s.pool[0].name}, s.restart(r), s.fit.made
	}
	d.written.Parents = parents
	if err == nil {
		d.member, err = to(edits)
	}
	if err != nil {
		d.name = ""
		return d, err
	}
	edits = d.edits
	if p := &d.proposal.Prediction; p.None() {
		p.Gain = max(-1, min(1, s.believed(edits)-s.believed(d.parent.edits)))
	}
	d.written.Edits, d.written.Prediction = edits, d.proposal.Prediction
	d.written, err = d.candidate(d.written)
	return d, err
}

// operator draws one by its rate. What needs edits to work on waits until there are some.
func (s *Search) operator(r *rand.Rand) mindforge.Operator {
	q := s.Rates
	if len(s.pool) < 3 {
		q.Merge, q.Ablate = 0, 0
	}
	at := r.Float64() * (q.Reflect + q.Mutate + q.Merge + q.Ablate + q.Restart)
	for _, x := range []struct {
		rate float64
		op   mindforge.Operator
	}{{q.Reflect, mindforge.Reflect}, {q.Mutate, mindforge.Mutate}, {q.Merge, mindforge.Merge}, {q.Ablate, mindforge.Ablate}} {
		if at -= x.rate; at < 0 {
			return x.op
		}
	}
	return mindforge.Restart
}

// parent draws a candidate from the frontier with a chance proportional to the items that it
// wins, or takes the best one.
func (s *Search) parent(r *rand.Rand) *member {
	greedy := r.Float64() < s.Greedy
	wins := s.matrix.Frontier()
	best, total := s.pool[0], 0
	for _, m := range s.pool {
		total += wins[m.name]
		if s.matrix.Mean(m.name) > s.matrix.Mean(best.name) {
			best = m
		}
	}
	if greedy || total == 0 {
		return best
	}
	at := r.IntN(total)
	for _, m := range s.pool {
		if at -= wins[m.name]; at < 0 {
			return m
		}
	}
	return best
}

// reflect asks the proposer for one edit, having shown it what the parent failed at. A
// proposal that was made before is taken from the step that has it.
func (s *Search) reflect(ctx context.Context, n int, r *rand.Rand, d *draft) ([]mindforge.Edit, error) {
	seed := r.Uint64()
	d.written.Proposer = s.Proposer.Name()
	var err error
	if n < len(s.Past) {
		d.proposal = s.Past[n].Proposal
	} else {
		d.proposal, err = s.Proposer.Propose(ctx, s.ask(d.parent, seed))
	}
	if err != nil {
		return nil, err
	}
	if err := d.proposal.check(); err != nil {
		return nil, err
	}
	return with(d.parent.edits, d.proposal.Edit), s.Catalogue.Admit(d.proposal.Edit, s.Free)
}

func (s *Search) ask(m *member, seed uint64) Ask {
	a := s.fit.ask(m, seed)
	a.Free = s.Free
	for _, failed := range []bool{true, false} {
		for _, t := range s.traces[m.hash] {
			if t.Pass != failed {
				a.Traces = append(a.Traces, t)
			}
		}
	}
	return a
}

// mutate makes one committed edit: of those that can be made that with the best draw of what the
// search believes.
func (s *Search) mutate(r *rand.Rand, d *draft) ([]mindforge.Edit, error) {
	var all []mindforge.Edit
	for _, o := range s.fit.options(d.parent) {
		all = append(all, o.Edit)
	}
	for _, i := range ordered(s.weigh(r, all)) {
		if s.fit.takes(d.parent, all[i]) {
			d.written.Proposer, d.proposal.Edit = "catalogue", all[i]
			return with(d.parent.edits, all[i]), nil
		}
	}
	return nil, NoMore()
}

// ordered gives places by weight, the heaviest first.
func ordered(w []float64) []int {
	order := make([]int, len(w))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return sign(w[j] - w[i]) })
	return order
}

// believed is what some edits do together, by the mean of what the search believes.
func (s *Search) believed(edits []mindforge.Edit) float64 {
	sum := 0.0
	for _, w := range s.weigh(nil, edits) {
		sum += w
	}
	return sum
}

// weigh draws what each of some edits does (Thompson sampling).
func (s *Search) weigh(r *rand.Rand, all []mindforge.Edit) []float64 {
	columns := make([]int, len(all))
	for i, e := range all {
		columns[i] = s.belief.edit(e)
	}
	w, out := s.belief.draw(r), make([]float64, len(all))
	for i, c := range columns {
		out[i] = w[c]
	}
	return out
}

func (s *Search) ablate(r *rand.Rand, m *member) ([]mindforge.Edit, error) {
	if len(m.edits) == 0 {
		return nil, errs.New(errs.NotFound, "there is no edit to take back", "")
	}
	left, _, err := edit.Ablate(s.Base.Contract, m.edits, r.IntN(len(m.edits)))
	return left, err
}

// price is what an edit has to be worth to stand in a contract that is made anew, in points.
const price = 0.01

// restart draws a contract anew: the edits that a draw of the search's belief finds worth
// their price, the best first, at most so many as a contract may have.
func (s *Search) restart(r *rand.Rand) []mindforge.Edit {
	all := s.fit.committed()
	return s.worth(all, s.weigh(r, all), nil)
}

// worth takes edits by their weight while they are worth their price, one a component.
func (s *Search) worth(all []mindforge.Edit, w, least []float64) []mindforge.Edit {
	var edits []mindforge.Edit
	for _, i := range ordered(w) {
		if len(edits) == s.MaxEdits || w[i] < price {
			break
		}
		if (least == nil || w[i] >= least[i]) && !slices.ContainsFunc(edits, func(o mindforge.Edit) bool { return edit.Meet(all[i], o) }) {
			edits = append(edits, all[i])
		}
	}
	slices.SortStableFunc(edits, func(a, b mindforge.Edit) int { return compare(a.Component, b.Component) })
	return edits
}
