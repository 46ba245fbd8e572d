package model

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/errs"
	"macaron/internal/ids"
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

// Load packs the weights of an open file, with up to threads goroutines. The file can
// be closed afterwards. Digest is left for the caller to set.
func Load(f *gguf.File, threads int) (*Model, error) {
	c, err := readConfig(f.Meta)
	if err != nil {
		return nil, err
	}
	m := &Model{Config: c, layers: make([]layer, c.Layers)}
	if m.V, err = vocabulary(f); err != nil {
		return nil, err
	}
	for _, name := range []string{"rope_freqs.weight", "blk.0.attn_q.bias"} {
		if f.HasTensor(name) {
			return nil, errs.Newf(errs.Unsupported, "the model has the tensor %s, which the built-in engine does not apply", name)
		}
	}
	l := loader{f: f}
	l.group.SetLimit(max(threads, 1))
	l.matrix(&m.embed, "token_embd.weight", m.V, m.D)
	l.vector(&m.norm, "output_norm.weight", m.D)
	if f.HasTensor("output.weight") {
		l.matrix(&m.head, "output.weight", m.V, m.D)
	}
	for i := range m.layers {
		l.layer(&m.layers[i], fmt.Sprintf("blk.%d.", i), c)
	}
	if err := l.group.Wait(); err != nil {
		return nil, err
	}
	if m.head == nil {
		m.head = m.embed
	}
	m.rope = kernel.NewRope(m.C, m.Theta, min(m.Context, 2048))
	return m, nil
}

// vocabulary is the number of rows of the embedding.
func vocabulary(f *gguf.File) (int, error) {
	t, err := f.Tensor("token_embd.weight")
	if err != nil {
		return 0, err
	}
	if t.Rows() > 1<<20 {
		return 0, errs.Newf(errs.FormatInvalid, "the embedding has %d rows, at most %d are read", t.Rows(), 1<<20)
	}
	return int(t.Rows()), nil
}

// loader packs tensors side by side; the first error wins.
type loader struct {
	f     *gguf.File
	group errgroup.Group
}

func (l *loader) layer(to *layer, prefix string, c Config) {
	l.vector(&to.attnNorm, prefix+"attn_norm.weight", c.D)
	l.matrix(&to.q, prefix+"attn_q.weight", c.H*c.C, c.D)
	l.matrix(&to.k, prefix+"attn_k.weight", c.G*c.C, c.D)
	l.matrix(&to.v, prefix+"attn_v.weight", c.G*c.C, c.D)
	l.matrix(&to.o, prefix+"attn_output.weight", c.D, c.H*c.C)
	l.vector(&to.ffnNorm, prefix+"ffn_norm.weight", c.D)
	l.matrix(&to.gate, prefix+"ffn_gate.weight", c.F, c.D)
	l.matrix(&to.up, prefix+"ffn_up.weight", c.F, c.D)
	l.matrix(&to.down, prefix+"ffn_down.weight", c.D, c.F)
}

func (l *loader) matrix(to **kernel.Matrix, name string, rows, k int) {
	l.group.Go(func() error {
		t, err := l.f.Tensor(name)
		if err != nil {
			return err
		}
		if len(t.Dims) != 2 || t.Dims[0] != uint64(k) || t.Dims[1] != uint64(rows) {
			return errs.Newf(errs.FormatInvalid, "the tensor %s has the shape %v, not [%d %d] as the metadata says", name, t.Dims, k, rows)
		}
		format, ok := formats[t.Type]
		if !ok {
			return errs.New(errs.Unsupported, fmt.Sprintf("the tensor %s is stored as %s; the built-in engine computes %s", name, t.Type, formatNames()),
				"use a file in one of these formats, or serve this one with another engine and --upstream")
		}
		*to, err = kernel.Pack(format, rows, k, t.Data())
		return err
	})
}

func (l *loader) vector(to *[]float32, name string, n int) {
	l.group.Go(func() error {
		t, err := l.f.Tensor(name)
		if err != nil {
			return err
		}
		if t.Type != gguf.F32 || t.Elements() != uint64(n) {
			return errs.Newf(errs.FormatInvalid, "the tensor %s holds %d values of %s, not %d of F32", name, t.Elements(), t.Type, n)
		}
		out, raw := make([]float32, n), t.Data()
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		*to = out
		return nil
	})
}

// Digest is the SHA-256 of a file, which names the base.
func Digest(path string) (ids.Digest, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", errs.Wrap(errs.NotFound, err, "cannot open the model file "+path, "check the path and its permissions")
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", errs.Wrap(errs.StorageFailed, err, "cannot read the model file "+path, "")
	}
	return ids.Digest(fmt.Sprintf("sha256:%x", h.Sum(nil))), nil
}
