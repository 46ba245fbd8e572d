package model

import (
	"os"
	"strings"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/engine/weights/hf"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Source is a model as it is stored, open: a *GGUF file or an *HF directory. What both
// have is asked for by the names that GGUF gives it.
type Source interface {
	// Config is the architecture; Unsupported when this package does not compute it. V is not set.
	Config() (Config, error)
	// Tensors lists what is stored.
	Tensors() []Tensor
	// Size is the bytes of the weights as they are stored.
	Size() int64
	// Close releases the files. What was loaded stays.
	Close() error

	tensor(c *Config, name string) (Tensor, bool)
	paired(c *Config) bool  // the rows of q and k are in kernel.PairOrder
	plusOne(c *Config) bool // normalisation weights are stored less 1
	unused(c *Config, stored string) bool
}

// Tensor is a stored matrix or vector.
type Tensor struct {
	Name   string   // as the file calls it
	Shape  []uint64 // rows first, values of a row last
	Type   string   // how values are stored, as the file calls it
	format kernel.Format
	known  bool // the kernels compute format
	data   func() []byte
}

// Elements is the number of values.
func (t *Tensor) Elements() uint64 {
	n := uint64(1)
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Bytes is what the tensor takes as it is stored.
func (t *Tensor) Bytes() int64 { return int64(len(t.data())) }

// Open opens a model file or directory. The architecture is not yet looked at.
func Open(path string) (Source, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		d, err := hf.Open(path)
		if err != nil {
			return nil, err
		}
		return &HF{d}, nil
	}
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	return &GGUF{f}, nil
}

// Digest names the base: the SHA-256 of a file, or that of a directory as package hf
// defines it.
func Digest(path string) (ids.Digest, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return hf.Digest(path)
	}
	return hf.FileDigest(path)
}

// GGUF is a GGUF file as a source.
type GGUF struct{ File *gguf.File }

// Config reads the metadata.
func (s *GGUF) Config() (Config, error) { return readGGUF(s.File) }

// Size is the length of the file.
func (s *GGUF) Size() int64 { return int64(s.File.Size()) }

// Close unmaps the file.
func (s *GGUF) Close() error { return s.File.Close() }

// Tensors lists the file's tensor table.
func (s *GGUF) Tensors() []Tensor {
	list := make([]Tensor, len(s.File.Tensors))
	for i := range list {
		list[i] = ggufTensor(&s.File.Tensors[i])
	}
	return list
}

func ggufTensor(t *gguf.Tensor) Tensor {
	out := Tensor{Name: t.Name, Type: t.Type.String(), data: t.Data}
	for i := len(t.Dims) - 1; i >= 0; i-- {
		out.Shape = append(out.Shape, t.Dims[i])
	}
	out.format, out.known = formats[t.Type]
	return out
}

func (s *GGUF) tensor(_ *Config, name string) (Tensor, bool) {
	t, err := s.File.Tensor(name)
	if err != nil {
		return Tensor{Name: name}, false
	}
	return ggufTensor(t), true
}

func (s *GGUF) paired(c *Config) bool       { return c.family.paired }
func (s *GGUF) plusOne(*Config) bool        { return false }
func (s *GGUF) unused(*Config, string) bool { return false }

// HF is a directory as a source.
type HF struct{ Dir *hf.Dir }

// Config reads config.json.
func (s *HF) Config() (Config, error) { return readHF(s.Dir) }

// Size is the bytes of all tensors.
func (s *HF) Size() int64 { return s.Dir.Size() }

// Close unmaps the files.
func (s *HF) Close() error { return s.Dir.Close() }

// Tensors lists the tensors of all shards.
func (s *HF) Tensors() []Tensor {
	var list []Tensor
	for _, name := range s.Dir.Names() {
		list = append(list, hfTensor(s.Dir.Tensor(name)))
	}
	return list
}

func hfTensor(t *safetensors.Tensor) Tensor {
	out := Tensor{Name: t.Name, Shape: t.Shape, Type: string(t.DType), data: func() []byte { return t.Data }}
	out.format, out.known = hf.Formats[t.DType]
	return out
}

func (s *HF) tensor(c *Config, name string) (Tensor, bool) {
	stored := c.family.checkpointName(name)
	if t := s.Dir.Tensor(stored); t != nil {
		return hfTensor(t), true
	}
	return Tensor{Name: stored}, false
}

func (s *HF) paired(*Config) bool    { return false }
func (s *HF) plusOne(c *Config) bool { return c.family.plusOne }

// unused are tensors that checkpoints carry along: tables that follow from the
// configuration, and the head's own copy of a tied embedding.
func (s *HF) unused(c *Config, stored string) bool {
	return strings.HasSuffix(stored, ".rotary_emb.inv_freq") || c.Tied && stored == "lm_head.weight"
}

// missing is the error for a tensor that the architecture has and the file has not.
func missing(name string) error {
	return errs.New(errs.FormatInvalid, "the model has no tensor "+errs.Clip(name), "use a complete model of a supported architecture")
}
