// Package model computes decoder transformers (Llama, Mistral, Qwen, Gemma) read from a
// GGUF file or a Hugging Face directory: one step over a batch of stretches of several
// sequences, each with its own adapter.
//
// Axis letters: n rows of a step (tokens of all its runs), d width of the model, h query
// heads and g key heads of c values, f width of the feed-forward part, r rank of an
// adapter, v vocabulary. Every row is computed by itself in a fixed floating-point
// order, so that its bits do not depend on what else is in the step.
package model

import (
	"fmt"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/ids"
)

// Model is the frozen weights. It is immutable and safe for concurrent use; a Step
// holds what changes.
type Model struct {
	Config
	Digest ids.Digest // of the file

	embed  *kernel.Matrix // [v, d]
	layers []layer
	norm   []float32      // [d], before the head
	head   *kernel.Matrix // [v, d]; embed when the file ties them
}

// layer is the weights of a block. Parts that an architecture lacks are nil.
type layer struct {
	attnNorm, ffnNorm []float32      // [d]
	q                 *kernel.Matrix // [h*c, d]
	k, v              *kernel.Matrix // [g*c, d]
	o                 *kernel.Matrix // [d, h*c]
	gate, up          *kernel.Matrix // [f, d]
	down              *kernel.Matrix // [d, f]

	qBias, kBias, vBias []float32 // [h*c], [g*c], [g*c]
	qNorm, kNorm        []float32 // [c], of each head before it is turned
	attnPost, ffnPost   []float32 // [d], of the outputs of attention and feed-forward

	rope   *kernel.RopeTable
	window int // positions that a row sees, 0 for all
}

// vectors are the weights of a block that are no matrices.
func (l *layer) vectors() [][]float32 {
	return [][]float32{l.attnNorm, l.ffnNorm, l.qBias, l.kBias, l.vBias, l.qNorm, l.kNorm, l.attnPost, l.ffnPost}
}

// Shape is what an adapter must fit. name is how people call this base, empty if
// unknown.
func (m *Model) Shape(name string) lora.Shape {
	s := lora.Shape{Base: m.Digest, Name: name, Arch: m.family.gguf, Vocab: m.V, Layers: m.Layers, HeadDim: m.C, Tied: m.Tied, Paired: m.family.paired}
	qd, kd := m.H*m.C, m.G*m.C
	s.In = [lora.Targets]int{m.D, m.D, m.D, qd, m.D, m.D, m.F}
	s.Out = [lora.Targets]int{qd, kd, kd, m.D, m.F, m.F, m.D}
	return s
}

// Bytes is the memory that the packed weights take.
func (m *Model) Bytes() int64 {
	n := m.embed.Bytes()
	if m.head != m.embed {
		n += m.head.Bytes()
	}
	for i := range m.layers {
		for _, w := range m.layers[i].matrices() {
			n += w.Bytes()
		}
	}
	return int64(n)
}

// Arrangement names what decides, beside the kernels, how a stored tensor becomes a
// packed matrix. Whoever changes an order of rows in the loader changes it.
const Arrangement = "rows of q and k by rotation pair"

// Matrices names the packed matrices as the loader does: what a cache holds.
func (m *Model) Matrices() map[string]*kernel.Matrix {
	all := map[string]*kernel.Matrix{"token_embd.weight": m.embed}
	if m.head != m.embed {
		all["output.weight"] = m.head
	}
	for i := range m.layers {
		for t, w := range m.layers[i].matrices() {
			all[matrixName(i, lora.Target(t))] = w
		}
	}
	return all
}

var matrixNames = [lora.Targets]string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}

func matrixName(layer int, t lora.Target) string {
	return fmt.Sprintf("blk.%d.%s.weight", layer, matrixNames[t])
}

// Params is the number of weights, those of normalisations and biases included.
func (m *Model) Params() int64 {
	n := m.embed.Rows()*m.embed.K() + m.D
	if m.head != m.embed {
		n += m.head.Rows() * m.head.K()
	}
	for i := range m.layers {
		for _, w := range m.layers[i].matrices() {
			n += w.Rows() * w.K()
		}
		for _, v := range m.layers[i].vectors() {
			n += len(v)
		}
	}
	return int64(n)
}

func (l *layer) matrices() [lora.Targets]*kernel.Matrix {
	return [lora.Targets]*kernel.Matrix{l.q, l.k, l.v, l.o, l.gate, l.up, l.down}
}

// ShapeOf is the shape of an open model, without loading its weights. The base's digest
// is left for the caller to set.
func ShapeOf(s Source, name string) (lora.Shape, error) {
	c, err := s.Config()
	if err != nil {
		return lora.Shape{}, err
	}
	if c.V, err = (&loader{source: s, config: &c, used: map[string]bool{}}).vocabulary(); err != nil {
		return lora.Shape{}, err
	}
	return (&Model{Config: c}).Shape(name), nil
}
