package jsonschema

import (
	"math/big"

	"macaron/internal/engine/grammar/auto"
	"macaron/internal/errs"
)

// maxModulus bounds the digits of multipleOf, taken as a whole number.
const maxModulus = 10_000

// multiple is the decimals that are multiples of m = a/10^p. States are the digits so
// far modulo a: scaled by 10^p, a multiple is 0 modulo a and has p digits behind the
// point that count.
func (c *compiler) multiple(m *big.Rat) (*auto.DFA, error) {
	whole, part := decimal(m)
	digits, _ := new(big.Int).SetString(whole+part, 10)
	if !digits.IsInt64() || digits.Int64() > maxModulus {
		return nil, errs.Newf(errs.Unsupported, "schema: multipleOf %s has too many digits; as a whole number they make at most %d", m.RatString(), maxModulus)
	}
	a, p := int(digits.Int64()), len(part)
	if err := c.budget.Spend(a * (p + 3)); err != nil {
		return nil, err
	}
	r := &remainders{a: a, p: p}
	return r.dfa(), nil
}

// remainders numbers the states: 0 before the sign, then for each phase a states. Phase
// 0 is before the point, phase i behind it with i-1 digits that count.
type remainders struct{ a, p int }

func (r *remainders) id(phase, rem int) int32 { return int32(1 + phase*r.a + rem) }

func (r *remainders) dfa() *auto.DFA {
	d := &auto.DFA{States: make([]auto.State, 1+(r.p+2)*r.a)}
	d.States[0].Edges = []auto.Edge{{Lo: '-', Hi: '-', To: r.id(0, 0)}}
	d.States[0].Edges = append(d.States[0].Edges, r.edges(0, 0)[1:]...)
	for phase := range r.p + 2 {
		for rem := range r.a {
			s := &d.States[r.id(phase, rem)]
			s.Edges = r.edges(phase, rem)
			s.Accept = r.scaled(phase, rem) == 0
		}
	}
	return d
}

// scaled is the remainder once the digits that are missing are taken as 0.
func (r *remainders) scaled(phase, rem int) int {
	for range r.p - max(phase-1, 0) {
		rem = rem * 10 % r.a
	}
	return rem
}

// edges leave a state over a point and digits; for the first state, which has none
// before it, the point is cut off.
func (r *remainders) edges(phase, rem int) (edges []auto.Edge) {
	if phase == 0 {
		edges = append(edges, auto.Edge{Lo: '.', Hi: '.', To: r.id(1, rem)})
	}
	if phase == r.p+1 { // all digits that count are there: only zeros may follow
		return append(edges, auto.Edge{Lo: '0', Hi: '0', To: r.id(phase, rem)})
	}
	next := phase
	if phase > 0 {
		next++
	}
	for d := range 10 {
		edges = append(edges, auto.Edge{Lo: rune('0' + d), Hi: rune('0' + d), To: r.id(next, (rem*10+d)%r.a)})
	}
	return edges
}
