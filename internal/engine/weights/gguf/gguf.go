// Package gguf reads GGUF model files (versions 2 and 3, little-endian): typed
// metadata and a table of tensors whose data are sub-slices of the mapped file.
//
// A file is hostile until proven otherwise. Every count, length, dimension and
// offset is checked against the number of bytes that are there, with arithmetic
// that cannot overflow, before it is used; nothing is allocated in proportion to
// a number that the file merely claims. Parsing therefore needs less memory than
// the file has bytes, plus a few megabytes at the caps below.
package gguf

import (
	"errors"
	"fmt"
	"io/fs"

	"macaron/internal/disk"
	"macaron/internal/engine/weights/mapped"
	"macaron/internal/errs"
)

// Caps on what a file may hold. Real models stay far below each.
const (
	MaxKeys      = 1 << 13 // metadata entries
	MaxTensors   = 1 << 16
	MaxKeyLen    = 1<<16 - 1 // bytes, as the format says
	MaxNameLen   = 64        // bytes of a tensor's name, as the format says
	MaxDims      = 4
	MaxAlignment = 1 << 20
	MaxElements  = 1 << 22 // of a metadata array that a getter decodes
)

const defaultAlignment = 32

// File is an open model file. It is immutable and safe for concurrent use. Data
// slices and tensors are valid until Close.
type File struct {
	Version   uint32
	Alignment uint64 // of every tensor's data, bytes, a power of two
	Meta      Meta
	Tensors   []Tensor // in file order

	byName map[string]int
	raw    []byte
	unmap  func() error
}

// Open maps the file at path and checks its whole structure; the tensor data
// themselves are only read when used. The file must not shrink while it is open.
func Open(path string) (*File, error) {
	raw, unmap, err := mapped.File(path)
	if err != nil {
		message := fmt.Sprintf("cannot open the model file %s", path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errs.Wrap(errs.NotFound, err, message, "check the path and its permissions")
		}
		return nil, disk.Error(err, message)
	}
	f, err := Parse(raw)
	if err != nil {
		return nil, errs.Wrap(errs.FormatInvalid, joinClose(err, unmap), fmt.Sprintf("%s is not a usable GGUF file: %s", path, errs.As(err).Message),
			"fetch the model again, or convert it with a current converter")
	}
	f.unmap = unmap
	return f, nil
}

// Parse reads a model file held in raw, which must not change while the File is
// used. Close is then not needed.
func Parse(raw []byte) (*File, error) {
	f, err := parse(raw)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Close unmaps the file; no Data slice may be used after it. It is idempotent.
func (f *File) Close() error {
	if f.unmap == nil {
		return nil
	}
	unmap := f.unmap
	f.unmap, f.raw, f.Tensors, f.byName, f.Meta = nil, nil, nil, nil, Meta{}
	return errs.Wrap(errs.StorageFailed, unmap(), "cannot release the model file", "")
}

// Size is the length of the file in bytes.
func (f *File) Size() int { return len(f.raw) }

// Tensor finds a tensor by name; a missing one is a FormatInvalid error with its name.
func (f *File) Tensor(name string) (*Tensor, error) {
	i, ok := f.byName[name]
	if !ok {
		return nil, errs.New(errs.FormatInvalid, fmt.Sprintf("the model has no tensor %q", name), "use a model of a supported architecture")
	}
	return &f.Tensors[i], nil
}

// HasTensor tells whether a tensor of that name exists.
func (f *File) HasTensor(name string) bool {
	_, ok := f.byName[name]
	return ok
}

// Tensor is one entry of the tensor table.
type Tensor struct {
	Name   string
	Dims   []uint64 // ggml order: Dims[0] is the row length, which varies fastest; 1 to 4 of them, each at least 1
	Type   Type
	Offset uint64 // of the data, from the start of the file, bytes
	Size   uint64 // of the data, bytes

	data []byte
}

// Data is the tensor's bytes in its own encoding, a view of the mapped file.
func (t *Tensor) Data() []byte { return t.data }

// Elements is the number of elements, the product of Dims.
func (t *Tensor) Elements() uint64 {
	n := uint64(1)
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

// Rows is Elements divided by the row length.
func (t *Tensor) Rows() uint64 { return t.Elements() / t.Dims[0] }

// joinClose releases a mapping after a failure and keeps both causes.
func joinClose(err error, unmap func() error) error {
	if cerr := unmap(); cerr != nil {
		return fmt.Errorf("%w (and releasing the file: %w)", err, cerr)
	}
	return err
}
