package model

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
)

// Block is the weights of a layer, to be read: what a backward pass multiplies with.
// Parts that an architecture lacks are nil.
type Block struct {
	W                 [lora.Targets]*kernel.Matrix // rows of q and k in kernel.PairOrder
	AttnNorm, FFNNorm []float32                    // [d]
	AttnPost, FFNPost []float32                    // [d], of the outputs of the halves
	QNorm, KNorm      []float32                    // [c], of each head before it is turned
	Rope              *kernel.RopeTable
	Window            int  // positions that a row sees, 0 for all
	GELU              bool // the gate's activation, else SiLU
}

// Block is a view of layer i.
func (m *Model) Block(i int) Block {
	l := &m.layers[i]
	return Block{W: l.matrices(), AttnNorm: l.attnNorm, FFNNorm: l.ffnNorm, AttnPost: l.attnPost, FFNPost: l.ffnPost,
		QNorm: l.qNorm, KNorm: l.kNorm, Rope: l.rope, Window: l.window, GELU: m.family.gelu}
}

// Head is the weights that turn the last hidden state into logits [v, d], and those of
// the normalisation before them.
func (m *Model) Head() (*kernel.Matrix, []float32) { return m.head, m.norm }
