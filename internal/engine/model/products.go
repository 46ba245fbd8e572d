package model

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
)

// products computes dsts = x W^T for targets that share their input, and adds what the
// adapters of the rows add: scale * (x A^T) B^T. One dispatch computes the base and all
// x A^T, a second one adds what they give times B^T.
func (s *Step) products(layer int, x *kernel.Acts, targets []lora.Target, dsts ...[]float32) {
	all := s.m.layers[layer].matrices()
	first, second := s.first[:0], s.second[:0]
	for i, t := range targets {
		first = append(first, kernel.Product{Dst: dsts[i], W: all[t], X: *x})
	}
	low := s.lowRoom(layer, targets)
	for _, g := range s.groups {
		if g.adapter == nil {
			continue
		}
		for i, t := range targets {
			p := g.adapter.At(layer, t)
			if p == nil {
				continue
			}
			rows, rank, out := g.hi-g.lo, p.A.Rows(), p.B.Rows()
			var mid kernel.Acts
			mid.Set(s.pool, low[:rows*rank], rows, rank, kernel.Float32)
			first = append(first, kernel.Product{Dst: low[:rows*rank], W: p.A, X: x.Slice(g.lo, g.hi)})
			second = append(second, kernel.Product{Dst: dsts[i][g.lo*out:], W: p.B, X: mid, Add: true, Scale: g.adapter.Scale})
			low = low[rows*rank:]
		}
	}
	kernel.MatMulAll(s.pool, first)
	if len(second) > 0 {
		kernel.MatMulAll(s.pool, second)
	}
	s.first, s.second = first, second
}

// lowRoom is room for the results of every A of these targets.
func (s *Step) lowRoom(layer int, targets []lora.Target) []float32 {
	n := 0
	for _, g := range s.groups {
		if g.adapter == nil {
			continue
		}
		for _, t := range targets {
			if p := g.adapter.At(layer, t); p != nil {
				n += (g.hi - g.lo) * p.A.Rows()
			}
		}
	}
	s.low = grow(s.low, n)
	return s.low
}
