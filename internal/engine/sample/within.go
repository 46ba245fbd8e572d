package sample

import "math/bits"

// PickWithin is Pick among the tokens whose bits are set in mask, lowest bit first: the
// others are taken out before top-k, top-p and min-p, and the distribution is that of
// the rest. ok is false when no bit is set.
func (s *Sampler) PickWithin(logits []float32, mask []uint64, p Params, h *History, position int) (id int32, ok bool) {
	s.undo = p.lean(logits, s.undo[:0])
	if h != nil && p.penalised() {
		s.undo = h.penalise(logits, p, s.undo)
	}
	s.kept, s.row = s.kept[:0], s.row[:0]
	for w, m := range mask {
		for ; m != 0; m &= m - 1 {
			if i := w*64 + bits.TrailingZeros64(m); i < len(logits) {
				s.kept, s.row = append(s.kept, int32(i)), append(s.row, logits[i])
			}
		}
	}
	s.restore(logits)
	if len(s.kept) == 0 {
		return 0, false
	}
	p.Bias = nil // applied already, as are the penalties
	return s.kept[s.Pick(s.row, p, nil, position)], true
}
