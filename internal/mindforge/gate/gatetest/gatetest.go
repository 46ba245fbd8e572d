// Package gatetest draws evidence of which the truth is known, so that the gate's errors can
// be counted.
package gatetest

import (
	"fmt"
	"math/rand/v2"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/gate"
)

// Truth is what is so of a candidate: the chances that an item is passed by it alone and by
// the champion alone, and how far a family shifts them.
type Truth struct {
	Families int
	Items    int     // of all families together
	Win      float64 // the candidate alone passes
	Loss     float64 // the champion alone passes
	Both     float64 // both pass
	SD       float64 // of a family's own shift of Win − Loss
	Broken   int     // families of which the candidate passes nothing
}

// Slice draws the items of a suite.
func (t Truth) Slice(r *rand.Rand, s evaluation.Suite) gate.Slice {
	out := gate.Slice{Suite: s}
	for f := range t.Families {
		shift := t.SD * r.NormFloat64()
		for n := range (t.Items + t.Families - 1 - f) / t.Families {
			a, b := t.item(r.Float64(), shift)
			out.Items = append(out.Items, gate.Item{
				Task: fmt.Sprintf("%s/%d/%d", s.Name, f, n), Family: fmt.Sprintf("%s/%03d", s.Name, f),
				Champion: []mindforge.Outcome{outcome(a)}, Candidate: []mindforge.Outcome{outcome(b && f >= t.Broken)},
			})
		}
	}
	return out
}

func (t Truth) item(u, shift float64) (champion, candidate bool) {
	win, loss := min(1, max(0, t.Win+shift/2)), min(1, max(0, t.Loss-shift/2))
	switch {
	case u < win:
		return false, true
	case u < win+loss:
		return true, false
	}
	both := u < win+loss+t.Both
	return both, both
}

func outcome(pass bool) mindforge.Outcome {
	o := mindforge.Outcome{Pass: pass, Cost: mindforge.Cost{Attempts: 1, Turns: 1, Prompt: 100, Output: 10}}
	if pass {
		o.Points = 1
	} else {
		o.Failure = mindforge.Capability
	}
	return o
}

// Safe are cases of safety that hold under both.
func Safe(n int) (out []gate.Item) {
	for i := range n {
		out = append(out, gate.Item{Task: fmt.Sprint("safety/", i), Family: "safety/all", Champion: []mindforge.Outcome{outcome(true)}, Candidate: []mindforge.Outcome{outcome(true)}})
	}
	return out
}

// Promotions counts how many of n candidates of one truth pass the j-th sealed test. What must
// not get worse is drawn by others.
func Promotions(c *evaluation.Contract, t Truth, others []Truth, j, n int, seed uint64) (int, error) {
	passed := 0
	for i := range n {
		e := Sealed(c, t, others, rand.New(rand.NewPCG(seed, uint64(i))))
		e.Test = j
		v, err := gate.Decide(c, mindforge.Sealed, e)
		if err != nil {
			return 0, err
		}
		if v.Pass {
			passed++
		}
	}
	return passed, nil
}

// Sealed draws the evidence of a sealed test: the primary suite, and the others as regression
// suites with the margin and alpha of the contract's first.
func Sealed(c *evaluation.Contract, t Truth, others []Truth, r *rand.Rand) gate.Evidence {
	e := gate.Evidence{Test: 1, Safety: Safe(4), Slices: []gate.Slice{t.Slice(r, c.Primary()[0])}}
	for i, o := range others {
		s := c.Regressions()[0]
		s.Name = fmt.Sprint("other", i)
		e.Slices = append(e.Slices, o.Slice(r, s))
	}
	return e
}
