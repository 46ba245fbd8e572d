package lora

import "slices"

// Mix is the adapters that act on some rows together, in the order in which the model
// adds their parts; that order and the weights decide the bits. Empty is the base alone.
// An adapter stands in it once.
type Mix []Weighted

// Weighted is an adapter's place in a mixture. Weight multiplies the adapter's own
// Scale; 1 is the adapter as it was trained.
type Weighted struct {
	Adapter *Adapter
	Weight  float32
}

// Only is one adapter by itself, or the base for nil.
func Only(a *Adapter) Mix {
	if a == nil {
		return nil
	}
	return Mix{{Adapter: a, Weight: 1}}
}

// Equal tells whether two mixtures give the same bits: the same adapters in the same
// order with the same weights.
func (m Mix) Equal(o Mix) bool { return slices.Equal(m, o) }

// Factor is what multiplies the adapter's product: weight times scale, rounded once.
func (w Weighted) Factor() float32 { return w.Weight * w.Adapter.Scale }
