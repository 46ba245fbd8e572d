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
	return in
}

// interior is the memory of Recall, which stays.
func (s *Step) interior() *Interior {
	if s.recalled == nil {
		s.recalled = &Interior{}
	}
	return s.recalled
}

// AttendBack carries a gradient back through the attention of one run, of those that
// were recalled in layer i last: from dAtt to dQ, of the whole step [n, h*c], and to the
// keys and values from position on, dK and dV [end of the run - from, g*c], which are
// added to. See kernel.AttendBack.
func (s *Step) AttendBack(i, run int, dQ, dAtt []float32, from int, dK, dV []float32) {
	m, at := s.m, &s.runs[run]
	g := kernel.AttnGrad{From: from, DK: dK, DV: dV}
	if s.mode == kernel.Int8 {
		g.AttnSeq = s.attending(i)[run]
	} else {
		g.AttnSeq = s.seqs[run]
		g.Window = m.layers[i].window
		for _, p := range at.Pages[:(at.Pos+len(at.Tokens)+kernel.PageTokens-1)/kernel.PageTokens] {
			g.Exact = append(g.Exact, kernel.ExactPage{K: s.arena.exact[p][i].k, V: s.arena.exact[p][i].v})
		}
	}
	kernel.AttendBack(s.pool, dQ, s.q, s.att, dAtt, m.H, m.G, m.C, m.Scale, []kernel.AttnGrad{g})
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
