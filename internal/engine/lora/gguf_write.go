package lora

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"macaron/internal/engine/weights/gguf"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
)

// WriteGGUF makes the file that llama.cpp's convert_lora_to_gguf.py makes of a PEFT
// directory, for a base in a GGUF file of its architecture. The scale is alpha/r there, so
// that a rank-stabilised adapter gets the alpha that gives its scale. An adapter of the head
// of a base that ties it is Unsupported: llama.cpp has no tensor to add it to.
func (c *Content) WriteGGUF(path string, base Shape) error {
	switch {
	case c.gguf:
		return errs.New(errs.Unsupported, "the adapter is a GGUF file already", "copy the file")
	case base.Arch == "":
		return errs.New(errs.Unsupported, "the base's architecture has no name in GGUF", "write the adapter as a PEFT directory")
	case c.targets[Head] && base.Tied:
		return errs.New(errs.Unsupported, "the adapter changes the output head, which the base ties to its embedding: llama.cpp has no tensor for that", "write it merged into the base, as a PEFT directory, or train without the head")
	}
	if _, err := c.Adapter(base); err != nil {
		return err // it does not fit
	}
	var m gguf.Meta
	m.SetString("general.architecture", base.Arch)
	m.SetString("general.type", "adapter")
	m.SetString("adapter.type", "lora")
	m.SetString("general.name", strings.TrimSpace(base.Name+" LoRA"))
	m.SetFloat("adapter.lora.alpha", float32(c.plainAlpha()))
	if c.invocation != nil {
		var tokens []uint32
		for _, t := range c.invocation {
			tokens = append(tokens, uint32(t))
		}
		m.SetUints(invocationKey, tokens)
	}
	places := slices.SortedFunc(maps.Keys(c.tensors), place.before)
	var tensors []gguf.NewTensor
	for _, p := range places {
		tensors = append(tensors, c.ggufTensor(p, base))
	}
	return gguf.Write(path, m, tensors)
}

// ggufTensor is a tensor as the file holds it: the rows of q and k where the base's file has
// them.
func (c *Content) ggufTensor(p place, base Shape) gguf.NewTensor {
	t := c.tensors[p]
	var order []int
	if p.b && base.Paired {
		order = base.Order(p.target)
	}
	return gguf.NewTensor{Name: p.gguf(), Dims: []uint64{t.Shape[1], t.Shape[0]}, Type: ggufTypeOf(t.DType), Data: func() []byte { return sortedRows(t, order) }}
}

func ggufTypeOf(d safetensors.DType) gguf.Type {
	for g, s := range ggufTypes {
		if s == d {
			return g
		}
	}
	panic("lora: a type that is not read")
}

// sortedRows are the bytes of a tensor with its rows in an order, nil for as they are.
func sortedRows(t *safetensors.Tensor, order []int) []byte {
	if order == nil {
		return t.Data
	}
	stride := len(t.Data) / len(order)
	out := make([]byte, 0, len(t.Data))
	for _, r := range order {
		out = append(out, t.Data[r*stride:][:stride]...)
	}
	return out
}

// gguf is the name of a tensor in GGUF files.
func (p place) gguf() string {
	half := "a"
	if p.b {
		half = "b"
	}
	name := ggufHead
	if p.target != Head {
		name = fmt.Sprintf("blk.%d.%s", p.layer, ggufNames[p.target])
	}
	return name + ".weight.lora_" + half
}

// before orders places by layer, target, A before B; the head comes first.
func (p place) before(o place) int {
	half := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return slices.Compare([]int{p.layer, int(p.target), half(p.b)}, []int{o.layer, int(o.target), half(o.b)})
}
