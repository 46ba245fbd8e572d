package train

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
)

// backAttention takes dx [n, d] from the middle of a layer to its input:
//
//	mid = x + norm'(o(attend(q(h), k(h), v(h)))), h = norm(x)
//
// At the lowest layer that is trained dx is left as it is.
func (p *pass) backAttention(k *pack, b block, i int, w *model.Block, in *model.Interior, dx []float32) {
	room, n, m := &p.back, b.hi-b.lo, p.m
	room.dq = sized(room.dq, n*m.H*m.C)
	dy := p.backNorm(n, dx, in.Y, w.AttnPost)
	p.through(i, n, in.Att, room.dq, linear{lora.O, w.W[lora.O], dy})
	p.backAttend(k, b, i)
	p.turnBack(k, b, w, in)
	var dh []float32
	if i > p.to.lowest {
		room.h = sized(room.h, n*m.D)
		dh = room.h
	}
	p.through(i, n, in.H, dh, linear{lora.Q, w.W[lora.Q], room.dq}, linear{lora.K, w.W[lora.K], room.dk}, linear{lora.V, w.W[lora.V], room.dv})
	if dh != nil {
		p.backResidual(n, dx, dh, in.X, w.AttnNorm)
	}
}

// from is the position from which on gradients of keys and values are wanted: those of a
// prompt that gradients do not enter are not.
func (k *pack) from() int {
	if s := k.stretches[0]; s.parent.fixed {
		return s.lo
	}
	return 0
}

// backAttend carries dq, the gradient of the attention's result, to the queries, in
// place, and to keys and values: those of the block's rows go to dk and dv, those of
// earlier positions are added up.
func (p *pass) backAttend(k *pack, b block, i int) {
	room, width, from := &p.back, p.m.G*p.m.C, k.from()
	n := (b.hi - b.lo) * width
	room.dk, room.dv, room.grads = sized(room.dk, n), sized(room.dv, n), room.grads[:0]
	if len(k.stretches) > 1 {
		clear(room.dk)
		clear(room.dv)
		for _, s := range k.stretches {
			lo, hi := s.first*width, (s.first+s.hi-s.lo)*width
			room.grads = append(room.grads, kernel.AttnGrad{From: from, DK: room.keys, DV: room.values, OwnK: room.dk[lo:hi], OwnV: room.dv[lo:hi]})
		}
		p.step.AttendBack(i, room.dq, room.dq, room.grads)
		return
	}
	s := k.stretches[0] // blocks after this one have added to its keys and values
	lo, hi := s.lo+b.lo-from, s.lo+b.hi-from
	room.grads = append(room.grads, kernel.AttnGrad{From: from, DK: room.keys[:hi*width], DV: room.values[:hi*width]})
	p.step.AttendBack(i, room.dq, room.dq, room.grads)
	copy(room.dk, room.keys[lo*width:])
	copy(room.dv, room.values[lo*width:])
}

// openKeys makes room for the gradients of keys and values that a pack gives in a layer, its
// own included: what continues the pack has found some already.
func (p *pass) openKeys(k *pack, i int) error {
	room, width, from, most := &p.back, p.m.G*p.m.C, k.from(), 0
	for _, s := range k.stretches {
		most = max(most, (s.hi-from)*width)
	}
	room.keys, room.values = sized(room.keys, most), sized(room.values, most)
	first := k.stretches[0]
	lo, hi := (first.lo-from)*width, (first.hi-from)*width
	clear(room.keys[:lo])
	clear(room.values[:lo])
	return first.sums.take(p, i, room.keys[lo:hi], room.values[lo:hi])
}

// closeKeys hands the gradients of earlier keys and values to the stretches that have
// them.
func (p *pass) closeKeys(k *pack, i int) error {
	room, width := &p.back, p.m.G*p.m.C
	for s := k.stretches[0].parent; s.parent != nil && !s.fixed; s = s.parent {
		if err := s.sums.add(p, i, room.keys[s.lo*width:s.hi*width], room.values[s.lo*width:s.hi*width]); err != nil {
			return err
		}
	}
	return nil
}

// turnBack carries the gradients of queries and keys back through their rotation and the
// normalisation of their heads.
func (p *pass) turnBack(k *pack, b block, w *model.Block, in *model.Interior) {
	room, m := &p.back, p.m
	qd, kd := m.H*m.C, m.G*m.C
	p.each(b.hi-b.lo, func(r int) {
		s, at := k.at(b.lo + r)
		q, key := room.dq[r*qd:][:qd], room.dk[r*kd:][:kd]
		w.Rope.Undo(q, m.H, s.lo+at)
		w.Rope.Undo(key, m.G, s.lo+at)
		if w.QNorm != nil {
			backHeads(q, in.RawQ[r*qd:], w.QNorm, m.Eps)
			backHeads(key, in.RawK[r*kd:], w.KNorm, m.Eps)
		}
	})
}

// backHeads carries dx through the normalisation of each head of x, in place.
func backHeads(dx, x, weight []float32, eps float32) {
	for c := len(weight); len(dx) > 0; dx, x = dx[c:], x[c:] {
		kernel.RMSNormBack(dx[:c], dx[:c], x[:c], weight, eps)
	}
}
