// Package safetensors reads and writes safetensors files: a JSON table of tensors
// and their bytes back to back. Reading treats the file as hostile: the header is
// strict JSON, every size is computed without overflow and checked against the
// bytes that are there, and tensors must fill the data section exactly, without
// holes or overlap. Writing is deterministic and atomic.
package safetensors

import (
	"errors"
	"fmt"
	"io/fs"

	"macaron/internal/disk"
	"macaron/internal/engine/weights/mapped"
	"macaron/internal/errs"
)

// Caps on what a header may hold.
const (
	MaxHeader  = 16 << 20 // bytes
	MaxTensors = 1 << 16
	MaxDims    = 8
)

// Tensor is one tensor: its shape in row-major order (the last dimension varies
// fastest), none for a scalar, and its little-endian elements.
type Tensor struct {
	Name  string
	DType DType
	Shape []uint64
	Data  []byte // a view of the file; not to be changed
}

// Elements is the product of the shape, 1 for a scalar.
func (t *Tensor) Elements() int { return len(t.Data) / t.DType.Size() }

// File is an open file. It is immutable and safe for concurrent use; Data slices
// are valid until Close.
type File struct {
	Tensors []Tensor          // in the order of their data
	Meta    map[string]string // the header's __metadata__, nil if there is none

	byName map[string]int
	unmap  func() error
}

// Open maps the file at path and checks its whole structure.
func Open(path string) (*File, error) {
	raw, unmap, err := mapped.File(path)
	if err != nil {
		message := fmt.Sprintf("cannot open %s", path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errs.Wrap(errs.NotFound, err, message, "check the path and its permissions")
		}
		return nil, disk.Error(err, message)
	}
	f, err := Parse(raw)
	if err != nil {
		msg := fmt.Sprintf("%s is not a usable safetensors file: %s", path, errs.As(err).Message)
		if cerr := unmap(); cerr != nil {
			err = fmt.Errorf("%w (and releasing the file: %w)", err, cerr)
		}
		return nil, errs.Wrap(errs.FormatInvalid, err, msg, "write the file again with a current safetensors library")
	}
	f.unmap = unmap
	return f, nil
}

// Close unmaps the file; no Data slice may be used after it. It is idempotent.
func (f *File) Close() error {
	if f.unmap == nil {
		return nil
	}
	unmap := f.unmap
	f.unmap, f.Tensors, f.byName = nil, nil, nil
	return errs.Wrap(errs.StorageFailed, unmap(), "cannot release the file", "")
}

// Tensor finds a tensor by name; a missing one is a FormatInvalid error with its name.
func (f *File) Tensor(name string) (*Tensor, error) {
	i, ok := f.byName[name]
	if !ok {
		return nil, errs.New(errs.FormatInvalid, fmt.Sprintf("the file has no tensor %q", name), "use a file made for this model")
	}
	return &f.Tensors[i], nil
}

func bad(format string, args ...any) error { return errs.Newf(errs.FormatInvalid, format, args...) }
