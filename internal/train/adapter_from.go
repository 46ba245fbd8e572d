package train

import (
	"slices"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
)

// From begins with the values of an adapter that is there, such as one that was trained
// elsewhere. Its optimizer is new.
func From(p Passes, base lora.Shape, context int, a *lora.Adapter) (*Trainer, error) {
	if len(a.Invocation) > 0 {
		return nil, errs.New(errs.Unsupported, "an activated adapter cannot be trained on", "begin with a plain one")
	}
	t, err := blank(p, base, context, Spec{Rank: a.Revision.Rank, Alpha: a.Revision.Alpha, Targets: slices.Clone(a.Revision.Targets)})
	if err != nil {
		return nil, err
	}
	for _, m := range t.layout.Modules {
		pair := a.At(max(m.Layer, 0), m.Target)
		if pair == nil {
			return nil, errs.Newf(errs.Unsupported, "the adapter has no %s in layer %d; only adapters that change every layer are trained on", m.Target, m.Layer)
		}
		pa, pb := t.layout.Parts(m, t.master)
		unpack(pair.A, pa, nil)
		unpack(pair.B, pb, base.Order(m.Target))
	}
	return t, nil
}

// unpack reads a packed matrix; row i of it is row order[i] of the result.
func unpack(m *kernel.Matrix, into []float32, order []int) {
	for i := range m.Rows() {
		to := i
		if order != nil {
			to = order[i]
		}
		m.Row(i, into[to*m.K():][:m.K()])
	}
}
