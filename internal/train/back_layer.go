package train

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
)

// backFeedForward takes dx [n, d] from the end of a layer to the middle between its
// halves:
//
//	out = mid + norm'(down(act(gate(h)) * up(h))), h = norm(mid)
//
// where norm' is there in some architectures only.
func (p *pass) backFeedForward(i, n int, w *model.Block, in *model.Interior, dx []float32) {
	b, size := &p.back, n*p.m.F
	b.act, b.gate, b.up = sized(b.act, size), sized(b.gate, size), sized(b.up, size)
	b.h = sized(b.h, n*p.m.D)
	dy := p.backNorm(n, dx, in.Down, w.FFNPost)
	p.through(i, n, in.Act, b.act, linear{lora.Down, w.W[lora.Down], dy})
	p.each(n, func(r int) {
		lo, hi := r*p.m.F, (r+1)*p.m.F
		back := kernel.SwiGLUBack
		if w.GELU {
			back = kernel.GeGLUBack
		}
		back(b.gate[lo:hi], b.up[lo:hi], b.act[lo:hi], in.Gate[lo:hi], in.Up[lo:hi])
	})
	p.through(i, n, in.H2, b.h, linear{lora.Gate, w.W[lora.Gate], b.gate}, linear{lora.Up, w.W[lora.Up], b.up})
	p.backResidual(n, dx, b.h, in.Mid, w.FFNNorm)
}

// backNorm carries dy through a normalisation of y, nil for none, into memory of its own.
func (p *pass) backNorm(n int, dy, y, weight []float32) []float32 {
	if weight == nil {
		return dy
	}
	b, d := &p.back, p.m.D
	b.dy = sized(b.dy, n*d)
	p.each(n, func(r int) {
		kernel.RMSNormBack(b.dy[r*d:][:d], dy[r*d:][:d], y[r*d:][:d], weight, p.m.Eps)
	})
	return b.dy
}

// backResidual adds to dx what comes back through h = norm(x); dh is used up.
func (p *pass) backResidual(n int, dx, dh, x, weight []float32) {
	d := p.m.D
	p.each(n, func(r int) {
		row := dh[r*d:][:d]
		kernel.RMSNormBack(row, row, x[r*d:][:d], weight, p.m.Eps)
		kernel.Add(dx[r*d:][:d], row)
	})
}
