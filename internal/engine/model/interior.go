package model

import "macaron/internal/engine/kernel"

// Who has the memory keeps what a layer computes and spares itself its products later:
// LayerInside in place of Layer, Restore in place of Recall. What costs no product is not
// kept.

// InteriorLen is how many values LayerInside keeps of a row.
func (m *Model) InteriorLen() int {
	n := 0
	m.eachKept(&Interior{}, func(_ *[]float32, width int) { n += width })
	return n
}

// NewInterior lays room for n rows into room [n * InteriorLen].
func (m *Model) NewInterior(room []float32, n int) *Interior {
	in := &Interior{}
	m.eachKept(in, func(part *[]float32, width int) {
		*part, room = room[:n*width:n*width], room[n*width:]
	})
	return in
}

// eachKept calls f for the parts that are kept, with the values of a row.
func (m *Model) eachKept(in *Interior, f func(part *[]float32, width int)) {
	l := &m.layers[0]
	f(&in.Q, m.H*m.C)
	f(&in.Att, m.H*m.C)
	f(&in.Mid, m.D)
	f(&in.Gate, m.F)
	f(&in.Up, m.F)
	if l.qNorm != nil {
		f(&in.RawQ, m.H*m.C)
		f(&in.RawK, m.G*m.C)
	}
	if l.attnPost != nil {
		f(&in.Y, m.D)
	}
	if l.ffnPost != nil {
		f(&in.Down, m.D)
	}
}

// LayerInside is Layer, which also keeps the layer's interior in what NewInterior made
// for as many rows. It computes there instead of copying.
func (s *Step) LayerInside(i int, kept []float32, in *Interior) {
	l := &s.m.layers[i]
	s.normalise(s.m.postBefore(i), l.attnNorm, i > 0)
	copy(kept, s.x)
	s.exchange(in)
	s.inside, s.act = in, in.Gate // which is the step's now
	s.attention(i)
	s.inside = nil
	copy(in.Y, s.y)
	s.normalise(l.attnPost, l.ffnNorm, true)
	copy(in.Mid, s.x)
	s.widen(i)
	s.activate()
	s.narrow(i)
	copy(in.Down, s.y)
	s.exchange(in)
	s.act = s.gate
}

// exchange swaps the memory of a step for that of an interior, or back.
func (s *Step) exchange(in *Interior) {
	s.q, in.Q = in.Q, s.q
	s.att, in.Att = in.Att, s.att
	s.gate, in.Gate = in.Gate, s.gate
	s.up, in.Up = in.Up, s.up
}

// Restore is Recall of a layer whose interior was kept.
func (s *Step) Restore(runs []Run, i int, x []float32, in *Interior) *Interior {
	n, m, l := s.lay(runs), s.m, &s.m.layers[i]
	s.restored = Interior{X: x[:n*m.D], H: grow(s.restored.H, n*m.D), RawQ: in.RawQ, RawK: in.RawK,
		Q: in.Q, Att: in.Att, Y: in.Y, Mid: in.Mid, H2: s.h, Gate: in.Gate, Up: in.Up, Act: s.gate, Down: in.Down}
	out := &s.restored
	s.pool.Run(n, func(_, r int) {
		d, f := r*m.D, r*m.F
		kernel.RMSNorm(out.H[d:d+m.D], x[d:d+m.D], l.attnNorm, m.Eps)
		kernel.RMSNorm(out.H2[d:d+m.D], in.Mid[d:d+m.D], l.ffnNorm, m.Eps)
		m.activate(out.Act[f:f+m.F], in.Gate[f:f+m.F], in.Up[f:f+m.F])
	})
	s.last = out
	return out
}
