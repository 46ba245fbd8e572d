package auto

import "unicode"

// And is the language of the texts that both accept.
func And(a, b *DFA, budget *Budget) (*DFA, error) {
	return product(a, b, budget, func(x, y bool) bool { return x && y }, false)
}

// Minus is the language of the texts that a accepts and b does not.
func Minus(a, b *DFA, budget *Budget) (*DFA, error) {
	return product(a, b, budget, func(x, y bool) bool { return x && !y }, true)
}

// Not is the language of all other texts.
func Not(a *DFA, budget *Budget) (*DFA, error) {
	return Minus(All(), a, budget)
}

// All is the language of all texts.
func All() *DFA {
	return &DFA{States: []State{{Edges: []Edge{{0, 0xD7FF, 0}, {0xE000, unicode.MaxRune, 0}}, Accept: true}}}
}

// Length is the language of the texts of min to max runes; max -1 is no bound.
func Length(min, max int, budget *Budget) (*DFA, error) {
	n := max
	if max < 0 {
		n = min
	}
	if err := budget.Spend(3 * n); err != nil {
		return nil, err
	}
	d := &DFA{States: make([]State, n+1)}
	for i := range d.States {
		d.States[i].Accept = i >= min
		to := int32(i + 1)
		if i == n {
			if max >= 0 {
				break
			}
			to = int32(i)
		}
		d.States[i].Edges = []Edge{{0, 0xD7FF, to}, {0xE000, unicode.MaxRune, to}}
	}
	return d, nil
}

type pair struct{ a, b int32 }

// producer is the product construction. State -1 of b is the one that no edge leads to.
type producer struct {
	a, b  *DFA
	ids   map[pair]int32
	pairs []pair
}

func product(a, b *DFA, budget *Budget, accept func(a, b bool) bool, past bool) (*DFA, error) {
	p := &producer{a: a, b: b, ids: map[pair]int32{}}
	p.id(pair{0, 0})
	out := &DFA{}
	for i := 0; i < len(p.pairs); i++ {
		at := p.pairs[i]
		var inB State
		if at.b >= 0 {
			inB = b.States[at.b]
		}
		s := State{Accept: accept(a.States[at.a].Accept, inB.Accept)}
		for _, e := range a.States[at.a].Edges {
			s.Edges = p.split(s.Edges, e, inB.Edges, past)
		}
		if err := budget.Spend(1 + len(s.Edges)); err != nil {
			return nil, err
		}
		out.States = append(out.States, s)
	}
	return out.minimal(), nil
}

func (p *producer) id(at pair) int32 {
	id, ok := p.ids[at]
	if !ok {
		id = int32(len(p.pairs))
		p.ids[at] = id
		p.pairs = append(p.pairs, at)
	}
	return id
}

// split adds an edge of a in the pieces that b makes of it; past keeps those that b has
// no edge for.
func (p *producer) split(out []Edge, e Edge, edges []Edge, past bool) []Edge {
	lo := e.Lo
	for _, f := range edges {
		if f.Hi < lo {
			continue
		}
		if f.Lo > e.Hi {
			break
		}
		if f.Lo > lo && past {
			out = join(out, Edge{lo, f.Lo - 1, p.id(pair{e.To, -1})})
		}
		from, to := max(lo, f.Lo), min(e.Hi, f.Hi)
		out = join(out, Edge{from, to, p.id(pair{e.To, f.To})})
		lo = to + 1
	}
	if lo <= e.Hi && past {
		out = join(out, Edge{lo, e.Hi, p.id(pair{e.To, -1})})
	}
	return out
}

// Or is the language of the texts that either accepts.
func Or(a, b *DFA, budget *Budget) (*DFA, error) {
	rest, err := Not(a, budget)
	if err == nil {
		rest, err = Minus(rest, b, budget)
	}
	if err != nil {
		return nil, err
	}
	return Not(rest, budget)
}
