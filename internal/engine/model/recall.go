package model

import "macaron/internal/engine/kernel"

// Interior is what one layer computes on its way, of the n rows of a step: what a
// backward pass reads. The slices belong to the step and are valid until its next call.
// Those that an architecture has no use for are nil.
type Interior struct {
	X, H       []float32 // [n, d]: the layer's input as it was given; normalised, what q, k and v read
	RawQ, RawK []float32 // [n, h*c], [n, g*c]: queries and keys before their heads are normalised
	Q, Att     []float32 // [n, h*c]: queries as they meet the keys; what o reads
	Y          []float32 // [n, d]: what o gave, before it is normalised
	Mid, H2    []float32 // [n, d]: the residual stream between the halves; normalised, what gate and up read
	Gate, Up   []float32 // [n, f]
	Act        []float32 // [n, f]: act(gate) * up, what down reads
	Down       []float32 // [n, d]: what down gave, before it is normalised
}

// Recall computes layer i of some runs again, from the input that Layer gave: the same
// values by the same kernels. Keys and values of earlier positions are read from the
// pages; those of the runs are written once more, bit for bit as they are there.
func (s *Step) Recall(runs []Run, i int, x []float32) *Interior {
	n, l := s.lay(runs), &s.m.layers[i]
	in := s.interior()
	copy(s.x, x[:n*s.m.D])
	s.normalise(nil, l.attnNorm, false)
	in.X, in.H = x[:n*s.m.D], keep(in.H, s.h)
	if l.qNorm != nil {
		in.RawQ, in.RawK = grow(in.RawQ, len(s.q)), grow(in.RawK, len(s.k))
	}
	s.inside = in
	s.attention(i)
	s.inside = nil
	in.Q, in.Att = s.q, s.att
	if l.attnPost != nil {
		in.Y = keep(in.Y, s.y)
	}
	s.normalise(l.attnPost, l.ffnNorm, true)
	in.Mid, in.H2 = s.x, s.h
	s.widen(i)
	in.Gate = keep(in.Gate, s.gate)
	s.activate()
	in.Up, in.Act = s.up, s.gate
	if l.ffnPost != nil {
		s.narrow(i)
		in.Down = s.y
	}
	s.last = in
	return in
}

// interior is the memory of Recall, which stays.
func (s *Step) interior() *Interior {
	if s.recalled == nil {
		s.recalled = &Interior{}
	}
	return s.recalled
}

// AttendBack carries a gradient back through the attention of the runs that were recalled
// or restored in layer i last: from dAtt to dQ, of the whole step [n, h*c], and to keys and values,
// as grads say, one for each run; their AttnSeq and Exact are filled in here. See
// kernel.AttendBack.
func (s *Step) AttendBack(i int, dQ, dAtt []float32, grads []kernel.AttnGrad) {
	m := s.m
	seqs := s.seqs
	if s.mode == kernel.Int8 {
		seqs = s.attending(i)
	}
	for run := range grads {
		g := &grads[run]
		if g.AttnSeq = seqs[run]; s.mode != kernel.Int8 {
			g.Window, g.Exact = m.layers[i].window, s.exactly(i, run)
		}
	}
	kernel.AttendBack(s.pool, dQ, s.last.Q, s.last.Att, dAtt, m.H, m.G, m.C, m.Scale, grads)
}

// exactly is the pages of a run in single precision.
func (s *Step) exactly(layer, run int) (pages []kernel.ExactPage) {
	r := &s.runs[run]
	for _, p := range r.Pages[:(r.Pos+len(r.Tokens)+kernel.PageTokens-1)/kernel.PageTokens] {
		pages = append(pages, kernel.ExactPage{K: s.arena.exact[p][layer].k, V: s.arena.exact[p][layer].v})
	}
	return pages
}

// keep copies x.
func keep(to, x []float32) []float32 {
	to = grow(to, len(x))
	copy(to, x)
	return to
}

// keepHeads keeps the queries and keys of a row before their heads are normalised.
func (in *Interior) keepHeads(r int, q, k []float32) {
	if in != nil {
		copy(in.RawQ[r*len(q):], q)
		copy(in.RawK[r*len(k):], k)
	}
}
