// Package lora reads low-rank adapters, PEFT directories and GGUF files, and names each
// by its content. An adapter is never merged into the base: the model adds
// scale * (x A^T) B^T to the product of each layer it targets, and of the output head,
// per request.
package lora

import (
	"macaron/internal/adapter"
	"macaron/internal/engine/kernel"
	"macaron/internal/ids"
)

// Target is a linear layer of a block that an adapter can change.
type Target uint8

// The targets, in the order of the forward pass.
const (
	Q Target = iota
	K
	V
	O
	Gate
	Up
	Down
	Targets // their number

	// Head is the output head, of the model and not of a block: the adapter's part of it is
	// added to the logits, so that an embedding which is tied to the head stays as it is.
	Head = Targets
)

// modules are the names that PEFT gives them, after "model.layers.N.".
var modules = [Targets]string{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
	"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}

// headModule is the head's name in PEFT, after "base_model.model.".
const headModule = "lm_head"

// Shape is what an adapter must fit: the base model.
type Shape struct {
	Base    ids.Digest // of the model file
	Name    string     // how people call the base; empty when unknown
	Arch    string     // as GGUF names architectures; empty when unknown
	Vocab   int        // tokens; 0 when unknown
	Layers  int
	In, Out [Targets]int // values in and out of each linear layer
	HeadDim int          // values of one head, for the row order of q and k
	Tied    bool         // the head is the embedding
	Paired  bool         // GGUF adapters of this architecture have the rows of q and k in kernel.PairOrder already; PEFT's never have
}

// Pair is the adapter's part of one linear layer. A is [r, in], B is [out, r].
type Pair struct{ A, B *kernel.Matrix }

// Adapter is one loaded revision. It is immutable and safe for concurrent use; whoever
// holds it has it pinned.
type Adapter struct {
	Revision adapter.Revision
	Scale    float32    // alpha/r, or alpha/sqrt(r)
	Key      ids.Digest // of the revision and how its stored bytes were read: what cached results depend on

	// Invocation is nil for an adapter that acts on every token. An activated adapter
	// acts from the last occurrence of these tokens in a prompt on, so that everything
	// before is as the bare base computes it.
	Invocation []int32

	layers [][Targets]Pair
	head   Pair // A is [r, d], B is [v, r]
}

// At gives the adapter's part of a layer, nil for none. For the head the layer does not
// matter.
func (a *Adapter) At(layer int, t Target) *Pair {
	p := &a.head
	if t != Head {
		p = &a.layers[layer][t]
	}
	if p.A == nil {
		return nil
	}
	return p
}

// Dims are the values in and out of a target.
func (s Shape) Dims(t Target) (in, out int) {
	if t == Head {
		return s.In[Q], s.Vocab
	}
	return s.In[t], s.Out[t]
}

// Order tells which row of a checkpoint's matrix each row of the engine's is, nil when all
// stand where they stood.
func (s Shape) Order(t Target) []int {
	if t == Q || t == K {
		return kernel.PairOrder(s.Out[t], s.HeadDim)
	}
	return nil
}

// Rank is the number of values between A and B.
func (a *Adapter) Rank() int { return a.Revision.Rank }

// Bytes is the memory that the packed matrices take.
func (a *Adapter) Bytes() int64 {
	n := a.head.bytes()
	for i := range a.layers {
		for _, p := range a.layers[i] {
			n += p.bytes()
		}
	}
	return int64(n)
}

func (p *Pair) bytes() int {
	if p.A == nil {
		return 0
	}
	return p.A.Bytes() + p.B.Bytes()
}

// Layers is the number of layers of the base that the adapter was loaded for.
func (a *Adapter) Layers() int { return len(a.layers) }
