package train

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/model"
)

// backRoom is the memory of the backward pass.
type backRoom struct {
	dx            []float32 // [rows of the pack, d]: of the residual stream
	x             []float32 // [n, d]: a layer's input, of a block of n rows
	dy, h         []float32 // [n, d]: of a half's result; of its normalised input
	act, gate, up []float32 // [n, f]
	dq            []float32 // [n, h*c]
	dk, dv        []float32 // [n, g*c]
	keys, values  []float32 // [positions, g*c]: of what the pack sees, see from
	sum           []float32 // of a stretch in one layer, from its file
	low           []float32 // of lowered
	lowered       []lowered
	acts          kernel.Acts
	grads         []kernel.AttnGrad // of the runs of a block
}

// backward carries the slopes of a pack's log probabilities, and what continues it has
// found for its keys and values, back through all layers. In a layer the blocks go from
// last to first: when a block comes, all rows that see its keys and values have been.
func (p *pass) backward(k *pack) error {
	if len(k.stretches) == 0 {
		return nil
	}
	p.back.dx = sized(p.back.dx, k.rows*p.m.D)
	if err := p.backHead(k, p.back.dx); err != nil {
		return err
	}
	for i := p.m.Layers - 1; i >= p.to.lowest; i-- {
		if err := p.backLayer(k, i); err != nil {
			return err
		}
	}
	return nil
}

// backLayer is one layer of a pack.
func (p *pass) backLayer(k *pack, i int) error {
	if err := p.bring(k, i, i-1); err != nil {
		return err
	}
	if err := p.openKeys(k, i); err != nil {
		return err
	}
	for at := len(k.blocks) - 1; at >= 0; at-- {
		if err := p.backBlock(k, k.blocks[at], i); err != nil {
			return err
		}
	}
	if err := p.closeKeys(k, i); err != nil {
		return err
	}
	return p.leave(k, i, false)
}

// backBlock is one block in one layer: three pieces of work.
func (p *pass) backBlock(k *pack, b block, i int) error {
	n, w := b.hi-b.lo, p.m.Block(i)
	dx := p.back.dx[b.lo*p.m.D : b.hi*p.m.D]
	if err := p.taped(k, b, i); err != nil {
		return err
	}
	runs := p.runs(k, b)
	var in *model.Interior
	if err := p.do(func() {
		if kept := p.insideOf(k, i); kept != nil {
			in = p.step.Restore(runs, i, p.back.x, kept)
		} else {
			in = p.step.Recall(runs, i, p.back.x)
		}
	}); err != nil {
		return err
	}
	if err := p.do(func() { p.backFeedForward(i, n, &w, in, dx) }); err != nil {
		return err
	}
	return p.do(func() { p.backAttention(k, b, i, &w, in, dx) })
}

// taped fetches the input of a layer.
func (p *pass) taped(k *pack, b block, i int) error {
	p.back.x = sized(p.back.x, (b.hi-b.lo)*p.m.D)
	x := p.back.x
	for _, s := range k.stretches {
		lo, hi := s.within(b)
		size := (hi - lo) * p.m.D
		if err := s.tape.Get(i, s.taped+lo, x[:size]); err != nil {
			return err
		}
		x = x[size:]
	}
	return nil
}
