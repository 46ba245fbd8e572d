package model

import "macaron/internal/engine/kernel"

// exactPage holds keys and values [position, g*c] in single precision. Float32 steps use
// it instead of kernel.Page, whose half precision alone moves logits by up to 2e-3: so
// the float32 path shows what the architecture computes, and the distance of the served
// path to it includes the rounding of keys and values. It is plain and slow.
type exactPage struct{ k, v []float32 }

func newExactPage(width int) *exactPage {
	return &exactPage{make([]float32, kernel.PageTokens*width), make([]float32, kernel.PageTokens*width)}
}

func (p *exactPage) put(slot int, k, v []float32) {
	copy(p.k[slot*len(k):], k)
	copy(p.v[slot*len(v):], v)
}

// attendExact is the attention of one row: each head's softmax over the positions that
// it sees, up to its own; sums in double precision and position order.
func attendExact(s *Step, r int) {
	m, at := s.m, s.rows[r]
	width, group := m.G*m.C, m.H/m.G
	pages := s.runs[at.run].Pages
	first := 0
	if w := m.layers[s.at].window; w > 0 {
		first = max(0, at.pos+1-w)
	}
	scores := make([]float32, at.pos+1-first)
	sums := make([]float64, m.C)
	for h := range m.H {
		q := s.q[(r*m.H+h)*m.C:][:m.C]
		head := h / group * m.C
		for i := range scores {
			pos := first + i
			k := s.arena.exact[pages[pos/kernel.PageTokens]][s.at].k[pos%kernel.PageTokens*width+head:][:m.C]
			scores[i] = float32(dot(q, k) * float64(m.Scale))
		}
		kernel.SoftmaxInPlace(scores)
		clear(sums)
		for i, w := range scores {
			pos := first + i
			v := s.arena.exact[pages[pos/kernel.PageTokens]][s.at].v[pos%kernel.PageTokens*width+head:][:m.C]
			for j, f := range v {
				sums[j] += float64(w) * float64(f)
			}
		}
		for i, f := range sums {
			s.att[(r*m.H+h)*m.C+i] = float32(f)
		}
	}
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i, f := range a {
		sum += float64(f) * float64(b[i])
	}
	return sum
}
