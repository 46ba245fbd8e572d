package model

// Begin, Layer and End are Forward in pieces, for who has to give way to others between
// them: Begin, every layer in order, End. Other steps may run on the pool in between, and
// the pages of other sequences may change.

// Begin lays out the runs, which stay as they are until End, and embeds their tokens.
func (s *Step) Begin(runs []Run) {
	s.lay(runs)
	s.embed()
}

// Layer computes layer i. kept, unless nil, is given the layer's input [n, d]: the
// residual stream as the layer before left it. With it Recall computes the layer again.
func (s *Step) Layer(i int, kept []float32) {
	l := &s.m.layers[i]
	s.normalise(s.m.postBefore(i), l.attnNorm, i > 0) // h = norm(x += y)
	copy(kept, s.x)
	s.attention(i)
	s.normalise(l.attnPost, l.ffnNorm, true)
	s.widen(i)
	s.activate() // gate = act(gate) * up
	s.narrow(i)
}

// End gives what Forward gives. kept, unless nil, is given the residual stream [n, d]
// that the last normalisation reads.
func (s *Step) End(kept []float32) []float32 {
	s.normalise(s.m.postBefore(s.m.Layers), s.m.norm, true)
	copy(kept, s.x)
	return s.pick()
}
