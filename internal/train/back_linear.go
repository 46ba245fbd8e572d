package train

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
)

// linear is a linear layer with the gradient of its result, dy [n, out].
type linear struct {
	target lora.Target
	w      *kernel.Matrix // nil: its part is not asked for
	dy     []float32
}

// through carries gradients back through linear layers that read the same x [n, in]. For
// each, y = x W^T + s (x A^T) B^T, so that with u = dy B and mid = x A^T
//
//	dx = sum of dy W + s u A    dA += s u^T x    dB += s dy^T mid
//
// dx nil is not computed. In rounding to int8, which the served product does to x, the
// gradient passes as if there were none.
func (p *pass) through(layer, n int, x, dx []float32, parts ...linear) {
	p.carry(layer, n, x, dx, false, parts...)
}

// carry is through, which with add adds to dx.
func (p *pass) carry(layer, n int, x, dx []float32, add bool, parts ...linear) {
	var terms []kernel.Term
	room := p.lowRoom(layer, n, parts)
	for _, l := range parts {
		if l.w != nil {
			terms = append(terms, kernel.Term{W: l.w, Y: l.dy})
		}
		t := p.to.at(layer, l.target)
		if t.pair == nil {
			continue
		}
		u := room[:n*t.pair.A.Rows()]
		room = room[len(u):]
		kernel.MatMulBack(p.pool, kernel.Back{Dst: u, N: n, Terms: []kernel.Term{{W: t.pair.B, Y: l.dy}}})
		terms = append(terms, kernel.Term{W: t.pair.A, Y: u, Scale: t.scale})
		if t.a != nil {
			p.outer(t, n, x, u, l.dy)
		}
	}
	if dx != nil && len(terms) > 0 {
		kernel.MatMulBack(p.pool, kernel.Back{Dst: dx, N: n, Add: add, Terms: terms})
	}
}

// outer adds to the gradients of one pair.
func (p *pass) outer(t *target, n int, x, u, dy []float32) {
	r, in, out := t.pair.A.Rows(), t.pair.A.K(), t.pair.B.Rows()
	b := &p.back
	b.mid, b.sorted = sized(b.mid, n*r), sized(b.sorted, out*r)
	b.acts.Set(p.pool, x, n, in, kernel.Float32)
	kernel.MatMul(p.pool, b.mid, t.pair.A, &b.acts)
	sorted := t.sorted(b.sorted)
	kernel.OuterAll(p.pool,
		kernel.Outer{Dst: t.a, P: u, Q: x, N: n, R: r, M: in, Scale: t.scale},
		kernel.Outer{Dst: sorted, P: b.mid, Q: dy, N: n, R: r, M: out, Scale: t.scale, Flip: true})
	t.back(sorted)
}

// lowRoom is room for u of all parts.
func (p *pass) lowRoom(layer, n int, parts []linear) []float32 {
	size := 0
	for _, l := range parts {
		if t := p.to.at(layer, l.target); t.pair != nil {
			size += n * t.pair.A.Rows()
		}
	}
	p.back.low = sized(p.back.low, size)
	return p.back.low
}
