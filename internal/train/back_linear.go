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

// carry is through, which with add adds to dx. What all parts need of one kind is one
// dispatch.
func (p *pass) carry(layer, n int, x, dx []float32, add bool, parts ...linear) {
	low := p.lower(layer, n, parts)
	if len(low) > 0 {
		p.outer(n, x, low)
	}
	var terms []kernel.Term
	for _, l := range parts {
		if l.w != nil {
			terms = append(terms, kernel.Term{W: l.w, Y: l.dy})
		}
		if len(low) > 0 && low[0].target == p.to.at(layer, l.target) {
			terms = append(terms, kernel.Term{W: low[0].pair.A, Y: low[0].u, Scale: low[0].scale})
			low = low[1:]
		}
	}
	if dx != nil && len(terms) > 0 {
		kernel.MatMulBack(p.pool, kernel.Back{Dst: dx, N: n, Add: add, Terms: terms})
	}
}

// lowered is a linear layer's pair with what it needs on its way back.
type lowered struct {
	*target
	dy, u, mid, sorted []float32 // [n, out], [n, r] twice; gradient of B in the engine's order
}

// lower computes u = dy B of the parts that have a pair.
func (p *pass) lower(layer, n int, parts []linear) []lowered {
	room := &p.back
	low, used := room.lowered[:0], 0
	for _, l := range parts {
		if t := p.to.at(layer, l.target); t.pair != nil {
			low = append(low, lowered{target: t, dy: l.dy})
			used += n*2*t.pair.A.Rows() + len(t.b)
		}
	}
	room.lowered, room.low = low, sized(room.low, used)
	if len(low) == 0 {
		return nil
	}
	at, backs := room.low, make([]kernel.Back, len(low))
	for i := range low {
		t := &low[i]
		size := n * t.pair.A.Rows()
		t.u, t.mid, t.sorted = at[:size], at[size:2*size], at[2*size:2*size+len(t.b)]
		at = at[2*size+len(t.b):]
		backs[i] = kernel.Back{Dst: t.u, N: n, Terms: []kernel.Term{{W: t.pair.B, Y: t.dy}}}
	}
	kernel.MatMulBack(p.pool, backs...)
	return low
}

// outer adds to the gradients of the pairs that read x and are trained.
func (p *pass) outer(n int, x []float32, low []lowered) {
	in, acts := low[0].pair.A.K(), &p.back.acts
	acts.Set(p.pool, x, n, in, kernel.Float32)
	var mids []kernel.Product
	var outers []kernel.Outer
	for i := range low {
		t := &low[i]
		if t.a == nil {
			continue
		}
		t.sorted = t.target.sorted(t.sorted)
		r, out := t.pair.A.Rows(), t.pair.B.Rows()
		mids = append(mids, kernel.Product{Dst: t.mid, W: t.pair.A, X: *acts})
		outers = append(outers,
			kernel.Outer{Dst: t.a, P: t.u, Q: x, N: n, R: r, M: in, Scale: t.scale},
			kernel.Outer{Dst: t.sorted, P: t.mid, Q: t.dy, N: n, R: r, M: out, Scale: t.scale, Flip: true})
	}
	if len(mids) == 0 {
		return
	}
	kernel.MatMulAll(p.pool, mids)
	kernel.OuterAll(p.pool, outers...)
	for i := range low {
		if t := &low[i]; t.a != nil {
			t.back(t.sorted)
		}
	}
}
