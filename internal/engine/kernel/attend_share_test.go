package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// branches are rows of several sequences that stand for branches of one prefix: what they
// give to its keys and values is added up.
type branches struct {
	cases        []*attendCase
	q, att, dAtt []float32
}

func newBranches(r *rand.Rand, p *Pool, pos0, window int, rows ...int) *branches {
	b := &branches{}
	for _, n := range rows {
		a := newAttendCase(r, p, 6, 2, 16, pos0, n, window)
		b.cases = append(b.cases, a)
		b.q, b.att, b.dAtt = append(b.q, a.q...), append(b.att, a.att...), append(b.dAtt, a.dAtt...)
	}
	return b
}

// back gives dQ and the gradients of the shared keys and values from position from on,
// followed by those of each branch's own. Calls of one branch each, or one of all.
func (b *branches) back(p *Pool, from int, together bool) []float32 {
	first := b.cases[0]
	width := first.kvHeads * first.dim
	shared := (first.pos0 - from) * width
	own := 0
	for _, a := range b.cases {
		own += a.n * width
	}
	out := make([]float32, len(b.q)+2*(shared+own))
	dq, rest := out[:len(b.q)], out[len(b.q):]
	dk, dv, rest := rest[:shared], rest[shared:2*shared], rest[2*shared:]
	var grads []AttnGrad
	row := 0
	for _, a := range b.cases {
		g := AttnGrad{AttnSeq: a.seq(), From: from, DK: dk, DV: dv, OwnK: rest[:a.n*width], OwnV: rest[a.n*width:][:a.n*width]}
		g.Row0, row, rest = row, row+a.n, rest[2*a.n*width:]
		grads = append(grads, g)
	}
	calls := [][]AttnGrad{grads}
	if !together {
		calls = slices.Collect(slices.Chunk(grads, 1))
	}
	for _, list := range calls {
		AttendBack(p, dq, b.q, b.att, b.dAtt, first.heads, first.kvHeads, first.dim, caseScale, list)
	}
	return out
}

// oracle is back in double precision.
func (b *branches) oracle(from int) []float64 {
	var queries, own, dk, dv []float64
	for _, a := range b.cases {
		q, k, v := a.oracle()
		at, end := from*a.kvHeads*a.dim, a.pos0*a.kvHeads*a.dim
		queries, own = append(queries, q...), append(append(own, k[end:]...), v[end:]...)
		dk, dv = added(dk, k[at:end]), added(dv, v[at:end])
	}
	return append(append(append(queries, dk...), dv...), own...)
}

func added(sum, x []float64) []float64 {
	if sum == nil {
		return slices.Clone(x)
	}
	for i, v := range x {
		sum[i] += v
	}
	return sum
}

// TestBranchesAddUp: sequences of one call that share DK and DV give what the definition
// says, and bit for bit what a call for each gives, on any number of threads.
func TestBranchesAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 6))
	pools := []*Pool{NewPool(1), NewPool(2), NewPool(3)}
	for _, p := range pools {
		defer p.Close()
	}
	for _, c := range []struct{ pos0, from, window int }{{0, 0, 0}, {1, 0, 0}, {70, 0, 0}, {64, 64, 0}, {200, 33, 0}, {130, 0, 65}} {
		b := newBranches(r, pools[0], c.pos0, c.window, 50, 1, 130, 7)
		want := b.back(pools[0], c.from, false)
		for _, p := range pools {
			sameBits(t, fmt.Sprintf("%v on %d threads", c, p.Threads()), b.back(p, c.from, true), want)
		}
		most := 0.0
		exact := b.oracle(c.from)
		for _, v := range exact {
			most = max(most, math.Abs(v))
		}
		for i, v := range want {
			if !(math.Abs(float64(v)-exact[i]) < 1e-5*math.Abs(exact[i])+1e-6*most) {
				t.Fatalf("%v: value %d of %d queries is %g, want %g", c, i, len(b.q), v, exact[i])
			}
		}
	}
}
