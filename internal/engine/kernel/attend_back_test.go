package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// attendCase is rows of one sequence with everything that AttendBack needs.
type attendCase struct {
	heads, kvHeads, dim, pos0, n, window int
	c                                    *cache
	q, att, dAtt                         []float32
}

func newAttendCase(r *rand.Rand, p *Pool, heads, kvHeads, dim, pos0, n, window int) *attendCase {
	a := &attendCase{heads: heads, kvHeads: kvHeads, dim: dim, pos0: pos0, n: n, window: window, c: randomCache(r, pos0+n, kvHeads, dim)}
	a.q, a.dAtt = randomFloats(r, n*heads*dim), randomFloats(r, n*heads*dim)
	a.att = make([]float32, len(a.q))
	Attend(p, a.att, a.q, heads, kvHeads, dim, caseScale, []AttnSeq{a.seq()})
	return a
}

const caseScale = 0.15

func (a *attendCase) seq() AttnSeq {
	return AttnSeq{Pages: unseen(a.c.pages, a.pos0, a.window), Pos0: a.pos0, N: a.n, Window: a.window}
}

// exact is the cache in single precision.
func (a *attendCase) exact() (pages []ExactPage) {
	width := a.kvHeads * a.dim * PageTokens
	for lo := 0; lo < len(a.c.k); lo += width {
		hi := min(lo+width, len(a.c.k))
		pages = append(pages, ExactPage{a.c.k[lo:hi], a.c.v[lo:hi]})
	}
	return pages
}

// back runs AttendBack and gives dQ, dK, dV one after the other.
func (a *attendCase) back(p *Pool, from int, exact []ExactPage) []float32 {
	g := AttnGrad{AttnSeq: a.seq(), From: from, Exact: exact}
	if exact != nil {
		g.Pages = nil
	}
	width := a.kvHeads * a.dim
	out := make([]float32, len(a.q)+2*(a.pos0+a.n-from)*width)
	g.DK = out[len(a.q):][:(a.pos0+a.n-from)*width]
	g.DV = out[len(a.q)+len(g.DK):]
	AttendBack(p, out[:len(a.q)], a.q, a.att, a.dAtt, a.heads, a.kvHeads, a.dim, caseScale, []AttnGrad{g})
	return out
}

// oracle is back in double precision, by the definition.
func (a *attendCase) oracle() (dq, dk, dv []float64) {
	dq, dk, dv = make([]float64, len(a.q)), make([]float64, len(a.c.k)), make([]float64, len(a.c.k))
	for i := range a.n {
		from := 0
		if a.window > 0 {
			from = max(0, a.pos0+i-a.window+1)
		}
		for h := range a.heads {
			a.oracleRow(dq, dk, dv, (i*a.heads+h)*a.dim, h/(a.heads/a.kvHeads), from, a.pos0+i)
		}
	}
	return dq, dk, dv
}

func (a *attendCase) oracleRow(dq, dk, dv []float64, at, head, from, pos int) {
	dim := a.dim
	key := func(t int) int { return (t*a.kvHeads + head) * dim }
	p, dp, sum, mean := make([]float64, pos+1), make([]float64, pos+1), 0.0, 0.0
	for t := from; t <= pos; t++ {
		s := 0.0
		for i := range dim {
			s += float64(a.q[at+i]) * float64(a.c.k[key(t)+i])
			dp[t] += float64(a.dAtt[at+i]) * float64(a.c.v[key(t)+i])
		}
		p[t] = math.Exp(s*caseScale - 40)
		sum += p[t]
	}
	for t := from; t <= pos; t++ {
		p[t] /= sum
		mean += p[t] * dp[t]
	}
	for t := from; t <= pos; t++ {
		ds := p[t] * (dp[t] - mean) * caseScale
		for i := range dim {
			dq[at+i] += ds * float64(a.c.k[key(t)+i])
			dk[key(t)+i] += ds * float64(a.q[at+i])
			dv[key(t)+i] += p[t] * float64(a.dAtt[at+i])
		}
	}
}

func TestAttendBackAgainstFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 6))
	p := NewPool(2)
	defer p.Close()
	for _, c := range [][6]int{{9, 3, 64, 0, 1, 0}, {9, 3, 64, 0, 70, 0}, {4, 2, 16, 63, 2, 0}, {4, 4, 32, 100, 150, 0}, {4, 1, 16, 300, 1, 64}, {4, 2, 16, 190, 140, 65}, {4, 2, 48, 10, 130, 3}, {2, 2, 16, 10, 5, 512}} {
		a := newAttendCase(r, p, c[0], c[1], c[2], c[3], c[4], c[5])
		dq, dk, dv := a.oracle()
		want := append(append(dq, dk...), dv...)
		width := a.kvHeads * a.dim
		for _, from := range []int{0, a.pos0, a.pos0 / 2} {
			for _, exact := range [][]ExactPage{nil, a.exact()} {
				got := a.back(p, from, exact)
				rest := append(want[:len(dq):len(dq)], append(want[len(dq)+from*width:len(dq)+len(dk):len(dq)+len(dk)], want[len(dq)+len(dk)+from*width:]...)...)
				most := 0.0
				for _, v := range rest {
					most = max(most, math.Abs(v))
				}
				for i, v := range got {
					if !(math.Abs(float64(v)-rest[i]) < 1e-5*math.Abs(rest[i])+1e-6*most) {
						t.Fatalf("%v from %d, exact %v: value %d of %d queries is %g, want %g", c, from, exact != nil, i, len(dq), v, rest[i])
					}
				}
			}
		}
	}
}
