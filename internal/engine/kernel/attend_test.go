package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// cache is a sequence of keys and values, in pages and as they were.
type cache struct {
	pages []*Page
	k, v  []float32 // [positions, kvHeads, dim], rounded to half precision
}

func randomCache(r *rand.Rand, positions, kvHeads, dim int) *cache {
	n := kvHeads * dim
	c := &cache{k: randomFloats(r, positions*n), v: randomFloats(r, positions*n)}
	for pos := range positions {
		if pos%PageTokens == 0 {
			pg := NewPages(1, kvHeads, dim)[0]
			for i := range pg.K { // stale bits of another sequence
				pg.K[i], pg.V[i] = 0x7e00, 0x7c00
			}
			c.pages = append(c.pages, pg)
		}
		c.pages[pos/PageTokens].Put(pos%PageTokens, c.k[pos*n:], c.v[pos*n:], kvHeads, dim)
	}
	for i := range c.k {
		c.k[i], c.v[i] = half16(toHalf(c.k[i])), half16(toHalf(c.v[i]))
	}
	return c
}

// attendOracle is one row and head in float64; it sees positions [from, pos].
func (c *cache) attendOracle(q []float32, kvHeads, dim, head, from, pos int, scale float64) []float64 {
	scores, sum, top := make([]float64, pos+1), 0.0, math.Inf(-1)
	for t := from; t <= pos; t++ {
		for i, v := range q {
			scores[t] += float64(v) * float64(c.k[(t*kvHeads+head)*dim+i]) * scale
		}
		top = max(top, scores[t])
	}
	out := make([]float64, dim)
	for t := from; t <= pos; t++ {
		p := math.Exp(scores[t] - top)
		sum += p
		for i := range out {
			out[i] += p * float64(c.v[(t*kvHeads+head)*dim+i])
		}
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

func TestAttendAgainstFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	p := NewPool(2)
	defer p.Close()
	const heads, kvHeads, dim = 9, 3, 64
	const scale = 0.125
	for _, part := range [][3]int{{0, 1, 0}, {0, 70, 0}, {63, 1, 0}, {64, 1, 0}, {100, 65, 0}, {0, 70, 1}, {300, 1, 64}, {300, 1, 20}, {190, 70, 65}, {190, 70, 3}, {10, 5, 512}} {
		pos0, n, window := part[0], part[1], part[2]
		c := randomCache(r, pos0+n, kvHeads, dim)
		q, got := randomFloats(r, n*heads*dim), make([]float32, n*heads*dim)
		Attend(p, got, q, heads, kvHeads, dim, scale, []AttnSeq{{Pages: unseen(c.pages, pos0, window), Pos0: pos0, N: n, Window: window}})
		for row := range n {
			from := 0
			if window > 0 {
				from = max(0, pos0+row-window+1)
			}
			for h := range heads {
				at := (row*heads + h) * dim
				want := c.attendOracle(q[at:at+dim], kvHeads, dim, h/(heads/kvHeads), from, pos0+row, scale)
				for i := range want {
					if !(math.Abs(float64(got[at+i])-want[i]) < 2e-5*(1+math.Abs(want[i]))) {
						t.Fatalf("position %d head %d value %d: %g, want %g", pos0+row, h, i, got[at+i], want[i])
					}
				}
			}
		}
	}
}

// unseen is pages without those that lie wholly before the window of the row at pos: they
// must not be read.
func unseen(pages []*Page, pos, window int) []*Page {
	out := slices.Clone(pages)
	if window > 0 {
		clear(out[:max(0, pos-window+1)/PageTokens])
	}
	return out
}
