package model

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
)

// products computes dsts = x W^T for targets that share their input, and adds what the
// mixtures of the rows add: factor * (x A^T) B^T, adapter by adapter. One dispatch
// computes the base and all x A^T; another for every place in a mixture computes what
// the adapters at that place give times B^T.
func (s *Step) products(layer int, x *kernel.Acts, targets []lora.Target, dsts ...[]float32) {
	all := s.m.layers[layer].matrices()
	s.first = s.first[:0]
	for i, t := range targets {
		s.first = append(s.first, kernel.Product{Dst: dsts[i], W: all[t], X: *x})
	}
	for i := range s.second {
		s.second[i] = s.second[i][:0]
	}
	low := s.lowRoom(layer, targets)
	for _, g := range s.groups {
		for place, w := range g.mix {
			low = s.adapt(layer, x, targets, dsts, g, place, w, low)
		}
	}
	s.announce(layer, targets[0])
	kernel.MatMulAll(s.pool, s.first)
	for _, list := range s.second {
		if len(list) > 0 {
			kernel.MatMulAll(s.pool, list)
		}
	}
}

// adapt adds the two halves of one adapter in a group to the dispatches; it takes room
// from low and gives what is left of it.
func (s *Step) adapt(layer int, x *kernel.Acts, targets []lora.Target, dsts [][]float32, g group, place int, w lora.Weighted, low []float32) []float32 {
	for len(s.second) <= place {
		s.second = append(s.second, nil)
	}
	for i, t := range targets {
		p := w.Adapter.At(layer, t)
		if p == nil {
			continue
		}
		rows, rank, out := g.hi-g.lo, p.A.Rows(), p.B.Rows()
		var mid kernel.Acts
		mid.Set(s.pool, low[:rows*rank], rows, rank, kernel.Float32)
		s.first = append(s.first, kernel.Product{Dst: low[:rows*rank], W: p.A, X: x.Slice(g.lo, g.hi)})
		s.second[place] = append(s.second[place], kernel.Product{Dst: dsts[i][g.lo*out:], W: p.B, X: mid, Add: true, Scale: w.Factor()})
		low = low[rows*rank:]
	}
	return low
}

// lowRoom is room for the results of every A of these targets.
func (s *Step) lowRoom(layer int, targets []lora.Target) []float32 {
	n := 0
	for _, g := range s.groups {
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
