package train

// sequenceRatio is GSPO's: the geometric mean of the ratios of the tokens that
// sequence_ratio_mask marks; -1 for losses that have none, or without marked tokens.
func (e *evaluation) sequenceRatio(r *row, p []float32) float64 {
	if !e.kind.sequence {
		return -1
	}
	sum, n := 0.0, 0
	for i, mark := range r.mask {
		if mark != 0 && r.targets[i] >= 0 {
			from := r.q[i]
			if r.old != nil {
				from = r.old[i]
			}
			sum += float64(p[i]) - float64(from)
			n++
		}
	}
	if n == 0 {
		return -1
	}
	return exp(sum / float64(n))
}

// setRatio fills in the ratios; sequence is that of the sequence or negative.
func (t *token) setRatio(sequence float64) {
	t.mismatch = exp(t.p - t.q)
	t.r = t.mismatch
	if t.hasOld {
		t.mismatch, t.r = exp(t.old-t.q), exp(t.p-t.old)
	}
	if sequence >= 0 {
		t.r = sequence
	}
}

// correct is what the token's term is multiplied with: its weight, 0 where IcePop's mask
// leaves it out, and for truncated importance sampling what the cap leaves of the
// mismatch. Without old log probabilities the loss's own ratio has the mismatch in it
// already, so that only the excess is divided out. No derivative flows through it.
func (t *token) correct(s *settings) float64 {
	if m := t.mismatch; m < s.of("icepop_low") || m > s.of("icepop_high") {
		return 0
	}
	most := s.of("tis_cap")
	switch {
	case t.hasOld:
		return t.w * min(t.mismatch, most)
	case t.mismatch > most:
		return t.w * most / t.mismatch
	}
	return t.w
}
