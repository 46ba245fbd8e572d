package lora

import (
	"maps"
	"slices"

	"macaron/internal/engine/weights/safetensors"
)

// OnBase gives the content of a GGUF file as PEFT has it, for the base that it was made for:
// with the names of modules, and with the rows of q and k where checkpoints have them. It is
// the revision of the PEFT directory that the file was made from, if that was for this base.
func (c *Content) OnBase(base Shape) (*Content, error) {
	if !c.gguf {
		return c, nil
	}
	if _, err := c.Adapter(base); err != nil {
		return nil, err // it does not fit
	}
	out := c.config
	out.gguf, out.arch = false, ""
	var tensors []safetensors.Tensor
	layers := map[int]bool{}
	for _, p := range slices.SortedFunc(maps.Keys(c.tensors), place.before) {
		t := *c.tensors[p]
		t.Name = p.peft()
		if p.b && base.Paired {
			t.Data = sortedRows(&t, inverse(base.Order(p.target)))
		}
		tensors = append(tensors, t)
		if p.target != Head {
			layers[p.layer] = true
		}
	}
	if len(layers) < base.Layers {
		out.layers = layers
	}
	made, err := collect(out, tensors, base.Base)
	if err != nil {
		return nil, err
	}
	_, err = made.Adapter(base) // a target may lack layers that others have
	return made, err
}

// inverse undoes an order of rows.
func inverse(order []int) []int {
	if order == nil {
		return nil
	}
	out := make([]int, len(order))
	for r, from := range order {
		out[from] = r
	}
	return out
}
