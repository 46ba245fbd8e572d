package lora

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

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

// MaxMix bounds the adapters of one mixture.
const MaxMix = 16

// Canonical checks a mixture that a caller made and gives it in the one order that is
// computed, that of the adapters' keys: which of two is named first changes no bit.
// Adapters with weight 0 are left out.
func (m Mix) Canonical() (Mix, error) {
	if len(m) > MaxMix {
		return nil, errs.Newf(errs.InvalidRequest, "the mixture has %d adapters, at most %d are possible", len(m), MaxMix)
	}
	var out Mix
	for _, w := range m {
		if w.Adapter == nil {
			return nil, errs.New(errs.InvalidRequest, "the mixture names the bare base, which is always part of it", "leave it out")
		}
		if !(math.Abs(float64(w.Weight)) <= 1e3) {
			return nil, errs.Newf(errs.InvalidRequest, "an adapter's weight is %v, beyond -1000 to 1000", w.Weight)
		}
		if w.Weight != 0 {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b Weighted) int { return cmp.Compare(a.Adapter.Key, b.Adapter.Key) })
	for i, w := range out {
		if i > 0 && w.Adapter.Key == out[i-1].Adapter.Key {
			return nil, errs.Newf(errs.InvalidRequest, "the mixture names the adapter %s twice", w.Adapter.Revision.Hash.Short())
		}
		if len(w.Adapter.Invocation) > 0 && (len(out) > 1 || w.Weight != 1) {
			return nil, errs.New(errs.InvalidRequest, "an activated adapter cannot be part of a mixture", "use it by itself, with the weight 1")
		}
	}
	return out, nil
}

// Key names what a mixture computes: empty for the base, the adapter's own key for one
// adapter with weight 1, else a digest over all keys and weights, in order.
func (m Mix) Key() ids.Digest {
	switch {
	case len(m) == 0:
		return ""
	case len(m) == 1 && m[0].Weight == 1:
		return m[0].Adapter.Key
	}
	lines := []string{"mixture"}
	for _, w := range m {
		lines = append(lines, fmt.Sprintf("%s %08x", w.Adapter.Key, math.Float32bits(w.Weight)))
	}
	return ids.DigestOf([]byte(strings.Join(lines, "\n")))
}
