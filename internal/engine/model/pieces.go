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

// Embed lays out some runs and gives the embeddings [n, d] of their tokens: the input of
// layer 0. Embed, Through for every layer and Last are Forward too, bit for bit, for who
// takes many rows through one layer before the next.
func (s *Step) Embed(runs []Run, x []float32) {
	s.Begin(runs)
	copy(x, s.x)
}

// Through computes layer i of some runs from its input x [n, d], as Layer keeps it, and
// puts the input of the next one in its place.
func (s *Step) Through(runs []Run, i int, x []float32) {
	n, l := s.lay(runs), &s.m.layers[i]
	copy(s.x, x[:n*s.m.D])
	s.normalise(nil, l.attnNorm, false)
	s.attention(i)
	s.normalise(l.attnPost, l.ffnNorm, true)
	s.widen(i)
	s.activate()
	s.narrow(i)
	s.normalise(l.ffnPost, s.m.norm, true) // for x += y alone
	copy(x, s.x)
}

// Last gives what Forward gives, from what the last normalisation reads.
func (s *Step) Last(runs []Run, x []float32) []float32 {
	n := s.lay(runs)
	copy(s.x, x[:n*s.m.D])
	s.normalise(nil, s.m.norm, false)
	return s.pick()
}

// Bytes is the memory of a step, without that of the pool's threads.
func (s *Step) Bytes() int64 {
	all := [][]float32{s.x, s.y, s.h, s.q, s.att, s.k, s.v, s.gate, s.up, s.low, s.picked}
	if in := s.recalled; in != nil {
		all = append(all, in.H, in.RawQ, in.RawK, in.Y, in.Gate) // the others are the step's own
	}
	n := 0
	for _, x := range all {
		n += cap(x)
	}
	return 4 * int64(n)
}
