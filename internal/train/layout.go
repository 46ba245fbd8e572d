package train

import (
	"macaron/internal/engine/lora"
)

// Layout says where the matrices of an adapter lie in one vector of values. Masters,
// gradients and both moments of the optimizer have the same layout.
type Layout struct {
	Rank    int
	Modules []Module // by layer, then in the order of lora.Target
	Size    int      // values
}

// Module is the low-rank part of one linear layer. A is [r, in] and starts at A, B is
// [out, r] and starts at B, both row by row; rows of B are in the order of checkpoints,
// which is that of PEFT files, also where the engine keeps rows in another one.
type Module struct {
	Layer   int
	Target  lora.Target
	In, Out int
	A, B    int
}

// Parts gives the two matrices of a module within a vector of the layout.
func (l *Layout) Parts(m Module, vector []float32) (a, b []float32) {
	na, nb := l.Rank*m.In, m.Out*l.Rank
	return vector[m.A : m.A+na : m.A+na], vector[m.B : m.B+nb : m.B+nb]
}

func (l *Layout) add(layer int, t lora.Target, base lora.Shape) {
	in, out := base.Dims(t)
	m := Module{Layer: layer, Target: t, In: in, Out: out, A: l.Size}
	m.B = m.A + l.Rank*m.In
	l.Size = m.B + m.Out*l.Rank
	l.Modules = append(l.Modules, m)
}
