package model

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/engine/weights/packed"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
)

// formats maps the encodings of a file to those of the kernels.
var formats = map[gguf.Type]kernel.Format{
	gguf.F32: kernel.F32, gguf.F16: kernel.F16, gguf.BF16: kernel.BF16,
	gguf.Q4_0: kernel.Q4_0, gguf.Q4_1: kernel.Q4_1, gguf.Q5_0: kernel.Q5_0, gguf.Q5_1: kernel.Q5_1, gguf.Q8_0: kernel.Q8_0,
	gguf.Q4K: kernel.Q4_K, gguf.Q5K: kernel.Q5_K, gguf.Q6K: kernel.Q6_K,
}

// formatNames lists the encodings that the engine computes.
func formatNames() string {
	var names []string
	for t := range formats {
		names = append(names, t.String())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Load packs the weights of an open model, with up to threads goroutines, or takes those
// that cache has, nil for none. The source can be closed
// afterwards. Digest is left for the caller to set.
func Load(s Source, threads int, cache *packed.File) (*Model, error) {
	c, err := s.Config()
	if err != nil {
		return nil, err
	}
	l := &loader{source: s, config: &c, cache: cache, used: map[string]bool{}}
	l.group.SetLimit(max(threads, 1))
	if c.V, err = l.vocabulary(); err != nil {
		return nil, err
	}
	if err := l.divisors(&c); err != nil {
		return nil, err
	}
	m := &Model{Config: c, layers: make([]layer, c.Layers)}
	l.matrix(&m.embed, "token_embd.weight", c.V, c.D, nil)
	l.norm(&m.norm, "output_norm.weight", c.D, nil)
	if !c.Tied {
		l.matrix(&m.head, "output.weight", c.V, c.D, nil)
	}
	for i := range m.layers {
		l.layer(&m.layers[i], fmt.Sprintf("blk.%d.", i))
	}
	if err := l.group.Wait(); err != nil {
		return nil, err
	}
	if err := l.leftover(); err != nil {
		return nil, err
	}
	if m.head == nil {
		m.head = m.embed
	}
	m.tables()
	return m, nil
}

// tables makes the rotary tables, one when all layers turn alike.
func (m *Model) tables() {
	positions := min(m.Context, 2048)
	global := kernel.NewRopeOf(m.rope.freqs(m.C), positions)
	local := global
	if m.Window > 0 && m.family.postNorms {
		local = kernel.NewRopeOf(m.local.freqs(m.C), positions)
	}
	for i := range m.layers {
		m.layers[i].rope, m.layers[i].window = global, m.WindowOf(i)
		if m.layers[i].window > 0 {
			m.layers[i].rope = local
		}
	}
}

// loader packs tensors side by side; the first error wins.
type loader struct {
	source Source
	config *Config
	cache  *packed.File
	used   map[string]bool // by stored name; belongs to the goroutine that plans
	group  errgroup.Group
}

// vocabulary is the number of rows of the embedding.
func (l *loader) vocabulary() (int, error) {
	t, ok := l.find("token_embd.weight")
	if !ok {
		return 0, missing(t.Name)
	}
	if len(t.Shape) != 2 || t.Shape[0] > 1<<20 {
		return 0, errs.Newf(errs.FormatInvalid, "the embedding has the shape %v; two dimensions and at most %d rows are read", t.Shape, 1<<20)
	}
	return int(t.Shape[0]), nil
}

// divisors reads the rotary scaling that GGUF files of Llama 3.1 and later have as a
// tensor.
func (l *loader) divisors(c *Config) error {
	t, ok := l.find("rope_freqs.weight")
	if !ok {
		return nil
	}
	var err error
	if c.rope.divisor, err = l.values(t, c.C/2); err != nil {
		return err
	}
	c.local = c.rope
	return c.rope.check()
}

func (l *loader) layer(to *layer, prefix string) {
	c, f := l.config, l.config.family
	var q, k, head []int // order of the rows, and of the values of a head
	if !l.source.paired(c) {
		q, k, head = kernel.PairOrder(c.H*c.C, c.C), kernel.PairOrder(c.G*c.C, c.C), kernel.PairOrder(c.C, c.C)
	}
	l.norm(&to.attnNorm, prefix+"attn_norm.weight", c.D, nil)
	l.matrix(&to.q, prefix+"attn_q.weight", c.H*c.C, c.D, q)
	l.matrix(&to.k, prefix+"attn_k.weight", c.G*c.C, c.D, k)
	l.matrix(&to.v, prefix+"attn_v.weight", c.G*c.C, c.D, nil)
	l.matrix(&to.o, prefix+"attn_output.weight", c.D, c.H*c.C, nil)
	l.norm(&to.ffnNorm, prefix+"ffn_norm.weight", c.D, nil)
	l.matrix(&to.gate, prefix+"ffn_gate.weight", c.F, c.D, nil)
	l.matrix(&to.up, prefix+"ffn_up.weight", c.F, c.D, nil)
	l.matrix(&to.down, prefix+"ffn_down.weight", c.D, c.F, nil)
	if f.biases {
		l.vector(&to.qBias, prefix+"attn_q.bias", c.H*c.C, q, 0)
		l.vector(&to.kBias, prefix+"attn_k.bias", c.G*c.C, k, 0)
		l.vector(&to.vBias, prefix+"attn_v.bias", c.G*c.C, nil, 0)
	}
	if f.headNorms {
		l.norm(&to.qNorm, prefix+"attn_q_norm.weight", c.C, head)
		l.norm(&to.kNorm, prefix+"attn_k_norm.weight", c.C, head)
	}
	if f.postNorms {
		l.norm(&to.attnPost, prefix+"post_attention_norm.weight", c.D, nil)
		l.norm(&to.ffnPost, prefix+"post_ffw_norm.weight", c.D, nil)
	}
}

// find looks a tensor up and notes that it is used.
func (l *loader) find(name string) (Tensor, bool) {
	t, ok := l.source.tensor(l.config, name)
	if ok {
		l.used[t.Name] = true
	}
	return t, ok
}

// matrix packs a matrix, its rows in the given order, nil for as they are.
func (l *loader) matrix(to **kernel.Matrix, name string, rows, k int, order []int) {
	t, ok := l.find(name)
	l.group.Go(func() error {
		if !ok {
			return missing(t.Name)
		}
		if len(t.Shape) != 2 || t.Shape[0] != uint64(rows) || t.Shape[1] != uint64(k) {
			return errs.Newf(errs.FormatInvalid, "the tensor %s has the shape %v, not [%d %d] as the metadata says", t.Name, t.Shape, rows, k)
		}
		if !t.known {
			return errs.New(errs.Unsupported, fmt.Sprintf("the tensor %s is stored as %s; the built-in engine computes %s", t.Name, t.Type, formatNames()),
				"use a file in one of these formats, or serve this one with another engine and --upstream")
		}
		if m := l.cache.Matrix(name); m != nil && m.Rows() == rows && m.K() == k && m.Format() == t.format {
			*to = m
			return nil
		}
		var err error
		*to, err = kernel.Pack(t.format, rows, k, reordered(t.data(), order))
		return err
	})
}

// reordered copies rows of equal size in an order; nil leaves them.
func reordered(raw []byte, order []int) []byte {
	if order == nil {
		return raw
	}
	stride := len(raw) / len(order)
	sorted := make([]byte, 0, len(raw))
	for _, r := range order {
		sorted = append(sorted, raw[r*stride:][:stride]...)
	}
	return sorted
}

// norm reads the weights of a normalisation.
func (l *loader) norm(to *[]float32, name string, n int, order []int) {
	plus := float32(0)
	if l.source.plusOne(l.config) {
		plus = 1
	}
	l.vector(to, name, n, order, plus)
}

func (l *loader) vector(to *[]float32, name string, n int, order []int, plus float32) {
	t, ok := l.find(name)
	l.group.Go(func() error {
		if !ok {
			return missing(t.Name)
		}
		values, err := l.values(t, n)
		if err != nil {
			return err
		}
		out := make([]float32, n)
		for i := range out {
			from := i
			if order != nil {
				from = order[i]
			}
			out[i] = values[from] + plus
		}
		*to = out
		return nil
	})
}

// values decodes a vector of n floats.
func (l *loader) values(t Tensor, n int) ([]float32, error) {
	if t.Elements() != uint64(n) || !slices.Contains([]string{"F32", "F16", "BF16"}, t.Type) {
		return nil, errs.Newf(errs.FormatInvalid, "the tensor %s holds %d values of %s, not %d of F32, F16 or BF16", t.Name, t.Elements(), t.Type, n)
	}
	as := safetensors.Tensor{Name: t.Name, DType: safetensors.DType(t.Type), Data: t.data()}
	return as.Float32()
}

// leftover refuses a model with tensors that nothing here applies.
func (l *loader) leftover() error {
	for _, t := range l.source.Tensors() {
		if !l.used[t.Name] && !l.source.unused(l.config, t.Name) {
			return refused(fmt.Sprintf("the model has the tensor %s", errs.Clip(t.Name)))
		}
	}
	return nil
}
