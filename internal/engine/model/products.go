package model

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
)

// products computes dsts = x W^T for targets that share their input, and adds what the
// mixtures of the rows add: factor * (x A^T) B^T, adapter by adapter.
func (s *Step) products(layer int, x *kernel.Acts, targets []lora.Target, dsts ...[]float32) {
	all := s.m.layers[layer].matrices()
	s.list, s.lows = s.list[:0], s.lows[:0]
	mid := s.lowRoom(s.groups, layer, targets...)
	for i, t := range targets {
		from := len(s.lows)
		mid = s.adapt(s.groups, layer, t, mid)
		s.list = append(s.list, kernel.Product{Dst: dsts[i], W: all[t], X: *x, Low: s.lows[from:]})
	}
	s.announce(layer, targets[0])
	kernel.MatMulAll(s.pool, s.list)
}

// adapt appends what the adapters of groups add to the product of a target; it takes room
// from mid and gives what is left of it.
func (s *Step) adapt(groups []group, layer int, t lora.Target, mid []float32) []float32 {
	for _, g := range groups {
		for _, w := range g.mix {
			if p := w.Adapter.At(layer, t); p != nil {
				n := (g.hi - g.lo) * p.A.Rows()
				s.lows = append(s.lows, kernel.LowRank{A: p.A, B: p.B, Lo: g.lo, Hi: g.hi, Scale: w.Factor(), Mid: mid[:n]})
				mid = mid[n:]
			}
		}
	}
	return mid
}

// lowRoom is room for the results of every A of these targets.
func (s *Step) lowRoom(groups []group, layer int, targets ...lora.Target) []float32 {
	n := 0
	for _, g := range groups {
		for _, w := range g.mix {
			for _, t := range targets {
				if p := w.Adapter.At(layer, t); p != nil {
					n += (g.hi - g.lo) * p.A.Rows()
				}
			}
		}
	}
	s.low = grow(s.low, n)
	return s.low
}

// plan lists what the products read, four of each layer and the head.
func (s *Step) plan() {
	n := s.pool.Threads()
	for i := range s.m.layers {
		l := &s.m.layers[i]
		s.ahead = append(s.ahead, kernel.NewAhead(n, l.q, l.k, l.v), kernel.NewAhead(n, l.o), kernel.NewAhead(n, l.gate, l.up), kernel.NewAhead(n, l.down))
	}
	s.ahead = append(s.ahead, kernel.NewAhead(n, s.m.head))
}

// announce tells the pool what follows the product of a target.
func (s *Step) announce(layer int, t lora.Target) {
	place := [lora.Targets]int{lora.Q: 0, lora.O: 1, lora.Gate: 2, lora.Down: 3}
	s.pool.Ahead(s.ahead[4*layer+place[t]+1])
}
