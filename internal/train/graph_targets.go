package train

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
)

// targets is an adapter's parts, and where the gradients of their matrices go.
type targets struct {
	layers [][lora.Targets]target
	head   target
	lowest int // layer below which nothing is trained
}

// target is one linear layer's part.
type target struct {
	pair  *lora.Pair // nil: it has none
	scale float32
	a, b  []float32 // gradients [r, in], [out, r]; nil: not wanted
	order []int     // row of the checkpoint by row of the engine, nil: the same
}

// newTargets takes the adapter's parts and places the gradients that the layout has.
func newTargets(m *model.Model, a *lora.Adapter, l *Layout, grad []float32) *targets {
	t := &targets{layers: make([][lora.Targets]target, m.Layers), lowest: m.Layers}
	if a == nil {
		return t
	}
	for layer := range t.layers {
		for of := range lora.Targets {
			t.layers[layer][of] = target{pair: a.At(layer, of), scale: a.Scale}
		}
	}
	t.head = target{pair: a.At(0, lora.Head), scale: a.Scale}
	for _, module := range l.Modules {
		to := t.at(module.Layer, module.Target)
		if to.pair == nil {
			continue
		}
		to.a, to.b = l.Parts(module, grad)
		if of := module.Target; of == lora.Q || of == lora.K {
			to.order = kernel.PairOrder(module.Out, m.C)
		}
		if module.Target != lora.Head {
			t.lowest = min(t.lowest, module.Layer)
		}
	}
	return t
}

// at is the place of a layer's target.
func (t *targets) at(layer int, of lora.Target) *target {
	if of == lora.Head {
		return &t.head
	}
	return &t.layers[layer][of]
}

// sorted gives the gradient of B with its rows in the engine's order, a copy in room if
// that is another one; back puts it back.
func (t *target) sorted(room []float32) []float32 {
	if t.order == nil {
		return t.b
	}
	r := t.pair.A.Rows()
	for i, from := range t.order {
		copy(room[i*r:][:r], t.b[from*r:])
	}
	return room[:len(t.b)]
}

func (t *target) back(sorted []float32) {
	if t.order == nil {
		return
	}
	r := t.pair.A.Rows()
	for i, to := range t.order {
		copy(t.b[to*r:][:r], sorted[i*r:])
	}
}
