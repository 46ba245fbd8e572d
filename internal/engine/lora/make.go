package lora

import (
	"fmt"
	"math"
	"slices"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
)

// Plan is what an adapter is beside its values.
type Plan struct {
	Rank       int
	Alpha      float64
	RsLoRA     bool    // the scale is alpha/sqrt(r), not alpha/r
	Invocation []int32 // of an activated adapter; nil for one that always acts
}

// Values are one low-rank part: A [r, in] and B [out, r], row by row, rows of B in the order
// of checkpoints. The head's Layer is not looked at.
type Values struct {
	Layer  int
	Target Target
	A, B   []float32
}

// Make makes an adapter of values in memory, rounded to half precision: that is how it is
// stored, served and trained on. Half precision keeps 11 bits where bfloat16 keeps 8, and
// single precision twice the bytes; the weights of adapters lie far within its range, and
// what lies below 6e-5 is still kept to 3e-8. Parts of layers must be there for the same
// layers whatever the target, as PEFT can name no others. The values are not kept.
func Make(base Shape, p Plan, values []Values) (*Content, error) {
	c := config{Type: "LORA", Task: "CAUSAL_LM", Base: base.Name, Rank: p.Rank, Alpha: p.Alpha, RsLoRA: p.RsLoRA, targets: map[Target]bool{}}
	if err := c.check(); err != nil {
		return nil, err
	}
	if p.Invocation != nil {
		var tokens []int64
		for _, t := range p.Invocation {
			tokens = append(tokens, int64(t))
		}
		if err := c.setInvocation(tokens); err != nil {
			return nil, err
		}
	}
	if err := c.cover(base, values); err != nil {
		return nil, err
	}
	var tensors []safetensors.Tensor
	for _, v := range values {
		in, out := base.Dims(v.Target)
		at := v.place()
		a, err := half(at, v.A, p.Rank, in)
		if err != nil {
			return nil, err
		}
		at.b = true
		b, err := half(at, v.B, out, p.Rank)
		if err != nil {
			return nil, err
		}
		tensors = append(tensors, a, b)
	}
	return collect(c, tensors, base.Base)
}

func (v *Values) place() place {
	if v.Target == Head {
		return place{layer: headLayer, target: Head}
	}
	return place{layer: v.Layer, target: v.Target}
}

// cover notes which targets and layers the values are for.
func (c *config) cover(base Shape, values []Values) error {
	layers := map[Target][]int{}
	for _, v := range values {
		if v.Target > Head || v.Target != Head && (v.Layer < 0 || v.Layer >= base.Layers) {
			return errs.Newf(errs.InvalidRequest, "the base has no target %d in layer %d", v.Target, v.Layer)
		}
		c.targets[v.Target] = true
		layers[v.Target] = append(layers[v.Target], v.place().layer)
	}
	return c.sameLayers(layers, base.Layers)
}

// sameLayers notes the layers, which must be the same for every target but the head. PEFT
// adapts no head where it is told which layers to take.
func (c *config) sameLayers(of map[Target][]int, all int) error {
	var first []int
	for t, list := range of {
		slices.Sort(list)
		if t == Head {
			continue
		}
		if first == nil {
			first = list
		}
		if !slices.Equal(list, first) {
			return unsupported("the adapter changes other layers in one linear layer than in another, which a PEFT directory cannot say")
		}
	}
	if first == nil || len(first) == all {
		return nil
	}
	if of[Head] != nil {
		return unsupported("the adapter changes some layers only and the head, which a PEFT directory cannot say")
	}
	c.layers = map[int]bool{}
	for _, l := range first {
		c.layers[l] = true
	}
	return nil
}

// half makes a tensor of half-precision values.
func half(at place, values []float32, rows, cols int) (safetensors.Tensor, error) {
	t := safetensors.Tensor{Name: at.peft(), DType: safetensors.F16, Shape: []uint64{uint64(rows), uint64(cols)}}
	if len(values) != rows*cols {
		return t, errs.Newf(errs.InvalidRequest, "%s has %d values, not %d x %d", at, len(values), rows, cols)
	}
	for i, v := range values {
		if !(math.Abs(float64(v)) < maxHalf) {
			return t, errs.New(errs.InvalidRequest, fmt.Sprintf("value %d of %s is %v, which half precision does not hold", i, t.Name, v), "train with a lower learning rate, or clip the gradient")
		}
	}
	t.Data = kernel.AppendHalves(make([]byte, 0, 2*len(values)), values)
	return t, nil
}

// maxHalf is where rounding to half precision no longer gives a number.
const maxHalf = 65520
