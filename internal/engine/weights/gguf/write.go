package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

// NewTensor is a tensor to be written. Data is called once, when it is the tensor's turn, so
// that a file larger than memory can be written.
type NewTensor struct {
	Name string
	Dims []uint64 // ggml order, as Tensor.Dims
	Type Type
	Data func() []byte
}

// SetString gives a key a text.
func (m *Meta) SetString(key, v string) {
	m.set(key, value{kind: kString, count: 1, bytes: text(nil, v)})
}

// SetFloat gives a key a float32.
func (m *Meta) SetFloat(key string, v float32) {
	m.set(key, value{kind: kFloat32, count: 1, bytes: binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))})
}

// SetUints gives a key an array of uint32.
func (m *Meta) SetUints(key string, vs []uint32) {
	var b []byte
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	m.set(key, value{kind: kUint32, array: true, count: uint64(len(vs)), bytes: b})
}

// set leaves the maps of other copies of the metadata alone.
func (m *Meta) set(key string, v value) {
	if _, ok := m.values[key]; !ok {
		m.keys = append(slices.Clip(m.keys), key)
	}
	if m.values = maps.Clone(m.values); m.values == nil {
		m.values = map[string]value{}
	}
	m.values[key] = v
}

// Write stores metadata and tensors as a file of version 3: first in a temporary file beside
// it, which is synced and then takes the name, so that path holds the old file or the whole
// new one. Metadata of an open file must not outlive it.
func Write(path string, m Meta, tensors []NewTensor) error {
	align, err := alignment(m)
	if err != nil {
		return err
	}
	head, sizes, err := header(m, tensors, align)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return disk.Error(err, path+" cannot be written")
	}
	err = errors.Join(f.Chmod(0o644), emit(f, head, tensors, sizes, align), f.Sync())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return disk.Error(errors.Join(err, os.Remove(f.Name())), path+" cannot be written")
	}
	return disk.Error(disk.SyncDir(filepath.Dir(path)), path+" cannot be written")
}

// header is everything before the data, padded, and the size of each tensor.
func header(m Meta, tensors []NewTensor, align uint64) ([]byte, []uint64, error) {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte("GGUF"), 3)
	b = le.AppendUint64(le.AppendUint64(b, uint64(len(tensors))), uint64(len(m.keys)))
	for _, k := range m.keys {
		v := m.values[k]
		b = text(b, k)
		if v.array {
			b = le.AppendUint32(b, uint32(kArray))
		}
		b = le.AppendUint32(b, uint32(v.kind))
		if v.array {
			b = le.AppendUint64(b, v.count)
		}
		b = append(b, v.bytes...)
	}
	var sizes []uint64
	at := uint64(0)
	for _, t := range tensors {
		n, err := size(Tensor{Name: t.Name, Dims: t.Dims, Type: t.Type})
		if err != nil {
			return nil, nil, err
		}
		b = le.AppendUint32(text(b, t.Name), uint32(len(t.Dims)))
		for _, d := range t.Dims {
			b = le.AppendUint64(b, d)
		}
		b = le.AppendUint64(le.AppendUint32(b, uint32(t.Type)), at)
		sizes, at = append(sizes, n), at+(n+align-1)/align*align
	}
	return pad(b, align), sizes, nil
}

func emit(to io.Writer, head []byte, tensors []NewTensor, sizes []uint64, align uint64) error {
	w := bufio.NewWriterSize(to, 1<<20)
	if _, err := w.Write(head); err != nil {
		return err
	}
	for i, t := range tensors {
		data := t.Data()
		if uint64(len(data)) != sizes[i] {
			return errs.Newf(errs.Internal, "the tensor %s has %d bytes, not %d", t.Name, len(data), sizes[i])
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
		if _, err := w.Write(make([]byte, (align-sizes[i]%align)%align)); err != nil {
			return err
		}
	}
	return w.Flush()
}

func text(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

func pad(b []byte, align uint64) []byte {
	return append(b, make([]byte, (align-uint64(len(b))%align)%align)...)
}
