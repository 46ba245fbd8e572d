package model

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
)

// Logits computes the head for hidden states [n, d] into dst [n, v]. mixes[i] is the
// adapters of row i; nil is the base for all. What they have for the head is added to the
// logits, factor * (h A^T) B^T, adapter by adapter.
func (s *Step) Logits(dst, hidden []float32, mixes []lora.Mix) {
	n := len(hidden) / s.m.D
	s.pickedActs.Set(s.pool, hidden, n, s.m.D, s.mode)
	s.list = append(s.list[:0], kernel.Product{Dst: dst, W: s.m.head, X: s.pickedActs, Low: s.headLows(mixes)})
	kernel.MatMulAll(s.pool, s.list)
}

// LogitsOf computes the head for some tokens only, dst [n, len(tokens)], of rows of one
// mixture: the values that Logits gives for them.
func (s *Step) LogitsOf(dst, hidden []float32, tokens []int32, mix lora.Mix) {
	n := len(hidden) / s.m.D
	s.pickedActs.Set(s.pool, hidden, n, s.m.D, s.mode)
	kernel.MatMulRows(s.pool, dst, s.m.head, &s.pickedActs, tokens, s.lowsOf([]group{{0, n, mix}}, 0, lora.Head)...)
}

// headLows is what the adapters of the rows add to the head's product.
func (s *Step) headLows(mixes []lora.Mix) []kernel.LowRank {
	s.picks = s.picks[:0]
	for i, m := range mixes {
		if g := len(s.picks); g > 0 && s.picks[g-1].mix.Equal(m) {
			s.picks[g-1].hi++
		} else {
			s.picks = append(s.picks, group{i, i + 1, m})
		}
	}
	return s.lowsOf(s.picks, 0, lora.Head)
}

// lowsOf is what groups of rows add to the product of one target, by itself in a dispatch.
func (s *Step) lowsOf(groups []group, layer int, t lora.Target) []kernel.LowRank {
	s.lows = s.lows[:0]
	s.adapt(groups, layer, t, s.lowRoom(groups, layer, t))
	return s.lows
}
