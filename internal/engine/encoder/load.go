package encoder

import (
	"fmt"
	"strings"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/weights/hf"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
)

// table is an embedding [rows, d].
type table struct {
	rows   int
	values []float32
}

// linear is y = x W^T + bias.
type linear struct {
	w    *kernel.Matrix // [out, in]
	bias []float32      // [out]
}

// norm is the weights of a layer normalisation, [d] each.
type norm struct{ weight, bias []float32 }

type layer struct {
	q, k, v, o        linear // [d, d]
	attnNorm, ffnNorm norm
	up, down          linear // [f, d], [d, f]
}

// loadWeights takes every tensor of the encoder; one that nothing here applies is
// refused.
func (e *Encoder) loadWeights(d *hf.Dir) error {
	l := &loader{dir: d, used: map[string]bool{}}
	if d.Tensor("bert.embeddings.word_embeddings.weight") != nil {
		l.prefix = "bert."
	}
	const at = "embeddings."
	e.words, e.positions, e.kind = l.table(at+"word_embeddings", e.d), l.table(at+"position_embeddings", e.d), l.table(at+"token_type_embeddings", e.d)
	e.embedNorm = l.norm(at+"LayerNorm", e.d)
	e.layers = make([]layer, e.depth)
	for i := range e.layers {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		e.layers[i] = layer{
			q: l.linear(at+"attention.self.query", e.d, e.d), k: l.linear(at+"attention.self.key", e.d, e.d), v: l.linear(at+"attention.self.value", e.d, e.d),
			o: l.linear(at+"attention.output.dense", e.d, e.d), attnNorm: l.norm(at+"attention.output.LayerNorm", e.d),
			up: l.linear(at+"intermediate.dense", e.f, e.d), down: l.linear(at+"output.dense", e.d, e.f), ffnNorm: l.norm(at+"output.LayerNorm", e.d),
		}
		if l.err != nil {
			return l.err
		}
	}
	if l.err == nil && (e.positions.rows < e.length || e.kind.rows < 1) {
		l.fail(errs.Newf(errs.FormatInvalid, "the model has %d positions and needs %d", e.positions.rows, e.length))
	}
	l.leftover()
	return l.err
}

// loader collects the first error.
type loader struct {
	dir    *hf.Dir
	prefix string
	used   map[string]bool
	err    error
}

// values decodes a tensor of a shape, whose first dimension 0 leaves open.
func (l *loader) tensor(name string, shape ...int) *safetensors.Tensor {
	name = l.prefix + name
	t := l.dir.Tensor(name)
	if l.used[name] = true; t == nil {
		l.fail(errs.Newf(errs.FormatInvalid, "the encoder has no tensor %s", errs.Clip(name)))
		return nil
	}
	fits := len(t.Shape) == len(shape)
	for i := 0; fits && i < len(shape); i++ {
		fits = t.Shape[i] == uint64(shape[i]) || i == 0 && shape[i] == 0
	}
	if _, known := hf.Formats[t.DType]; !fits || !known || t.Elements() == 0 {
		l.fail(errs.Newf(errs.FormatInvalid, "the tensor %s has the shape %v of %s, not %v of F32, F16 or BF16", errs.Clip(name), t.Shape, t.DType, shape))
		return nil
	}
	return t
}

func (l *loader) values(name string, shape ...int) []float32 {
	t := l.tensor(name, shape...)
	if t == nil {
		return nil
	}
	values, err := t.Float32()
	l.fail(err)
	return values
}

func (l *loader) table(name string, width int) table {
	values := l.values(name+".weight", 0, width)
	return table{len(values) / width, values}
}

func (l *loader) norm(name string, n int) norm {
	return norm{l.values(name+".weight", n), l.values(name+".bias", n)}
}

func (l *loader) linear(name string, out, in int) linear {
	t := l.tensor(name+".weight", out, in)
	if t == nil {
		return linear{}
	}
	w, err := kernel.Pack(hf.Formats[t.DType], out, in, t.Data)
	l.fail(err)
	return linear{w, l.values(name+".bias", out)}
}

// leftover refuses tensors that were not used, but for the pooler, which sentence
// embeddings do not go through, the heads of pre-training, and a table of positions.
func (l *loader) leftover() {
	for _, name := range l.dir.Names() {
		rest := strings.TrimPrefix(name, l.prefix)
		if !l.used[name] && !strings.HasPrefix(rest, "pooler.") && !strings.HasPrefix(name, "cls.") && rest != "embeddings.position_ids" {
			l.fail(refused("the encoder has the tensor " + errs.Clip(name)))
		}
	}
}

func (l *loader) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}
