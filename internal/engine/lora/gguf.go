package lora

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/engine/weights/gguf"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
)

// ggufTypes are the encodings of an adapter's matrices that are read.
var ggufTypes = map[gguf.Type]safetensors.DType{gguf.F16: safetensors.F16, gguf.BF16: safetensors.BF16, gguf.F32: safetensors.F32}

// openGGUF reads an adapter file of llama.cpp's format: the pair of the base's tensor
// NAME is NAME.lora_a [in, r] and NAME.lora_b [r, out] in ggml's order of dimensions, the
// scale is adapter.lora.alpha/r, and rows of q and k stand in the order of the base's
// file. The file lists no targets: it changes what it has tensors for.
func openGGUF(path string) (*Content, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	out, err := readGGUF(f)
	if err != nil {
		return nil, closing(f.Close, err)
	}
	out.close = f.Close
	return out, nil
}

func readGGUF(f *gguf.File) (*Content, error) {
	c, err := ggufConfig(f.Meta)
	if err != nil {
		return nil, err
	}
	tensors, err := ggufTensors(f)
	if err != nil {
		return nil, err
	}
	for i := range tensors {
		p, ok := parseGGUFPlace(tensors[i].Name)
		if !ok {
			continue // collect names it
		}
		c.targets[p.target] = true
		if !p.b {
			c.Rank = cmp.Or(c.Rank, int(min(tensors[i].Shape[0], MaxRank+1)))
		}
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	return collect(c, tensors, "")
}

// ggufConfig takes the metadata of an adapter; targets and rank are the tensors' to tell.
func ggufConfig(m gguf.Meta) (config, error) {
	c := config{gguf: true, Type: "LORA", targets: map[Target]bool{}}
	for _, must := range []struct{ key, be string }{{"general.type", "adapter"}, {"adapter.type", "lora"}} {
		got, err := m.StringOr(must.key, "")
		if err != nil {
			return c, err
		}
		if must.key == "general.type" && (got == "" || got == "model") {
			return c, errs.New(errs.Unsupported, "the file is a whole model, not an adapter: what an adapter has changed in it cannot be taken out again", "name the adapter's own GGUF file or PEFT directory; a merged model is served as a model")
		}
		if got != must.be {
			return c, unsupported(fmt.Sprintf("the file's %s is %q, not %q", must.key, errs.Clip(got), must.be))
		}
	}
	var err error
	if c.arch, err = m.String("general.architecture"); err != nil {
		return c, err
	}
	if c.Alpha, err = m.Float("adapter.lora.alpha"); err != nil {
		return c, err
	}
	for _, k := range m.Keys() {
		if strings.HasPrefix(k, "adapter.") && k != "adapter.type" && k != "adapter.lora.alpha" && k != invocationKey {
			return c, unsupported(fmt.Sprintf("the file sets %q, which is not supported", errs.Clip(k)))
		}
	}
	if m.Has(invocationKey) {
		tokens, err := m.Ints(invocationKey)
		if err != nil {
			return c, err
		}
		return c, c.setInvocation(tokens)
	}
	return c, nil
}

const invocationKey = "adapter.alora.invocation_tokens"

// ggufTensors are views of the file's tensors with row-major shapes.
func ggufTensors(f *gguf.File) ([]safetensors.Tensor, error) {
	out := make([]safetensors.Tensor, len(f.Tensors))
	for i := range f.Tensors {
		t := &f.Tensors[i]
		dtype, ok := ggufTypes[t.Type]
		if !ok {
			return nil, unsupported(fmt.Sprintf("the tensor %s holds %s; F16, BF16 and F32 are read", t.Name, t.Type))
		}
		shape := slices.Clone(t.Dims)
		slices.Reverse(shape)
		out[i] = safetensors.Tensor{Name: t.Name, DType: dtype, Shape: shape, Data: t.Data()}
	}
	return out, nil
}
