// Package gguftest builds GGUF files in memory for tests: small valid models, and
// broken ones, since nothing that the caller puts in is checked.
package gguftest

import (
	"encoding/binary"
	"math"

	"macaron/internal/engine/weights/gguf"
)

// Builder collects metadata and tensors; Bytes lays them out. The zero Builder
// makes an empty version-3 file with an alignment of 32.
type Builder struct {
	Version   uint32 // 0 means 3
	Alignment uint64 // of the layout, 0 means 32; to declare it as well, add general.alignment
	Keys      uint64 // 0 means the true count
	Tensors   uint64 // 0 means the true count

	nKeys, nTensors uint64
	meta, table     []byte
	data            []byte
}

var le = binary.LittleEndian

func str(b []byte, s string) []byte { return append(le.AppendUint64(b, uint64(len(s))), s...) }

// Raw adds an entry of any type number with its encoded bytes.
func (w *Builder) Raw(key string, kind uint32, value []byte) *Builder {
	w.meta = append(le.AppendUint32(str(w.meta, key), kind), value...)
	w.nKeys++
	return w
}

// String adds a text.
func (w *Builder) String(key, v string) *Builder { return w.Raw(key, 8, str(nil, v)) }

// Uint adds a uint32.
func (w *Builder) Uint(key string, v uint32) *Builder {
	return w.Raw(key, 4, le.AppendUint32(nil, v))
}

// Float adds a float32.
func (w *Builder) Float(key string, v float32) *Builder {
	return w.Raw(key, 6, le.AppendUint32(nil, math.Float32bits(v)))
}

// Bool adds a boolean.
func (w *Builder) Bool(key string, v bool) *Builder {
	b := byte(0)
	if v {
		b = 1
	}
	return w.Raw(key, 7, []byte{b})
}

// Strings adds an array of texts.
func (w *Builder) Strings(key string, vs []string) *Builder {
	b := le.AppendUint64(le.AppendUint32(nil, 8), uint64(len(vs)))
	for _, v := range vs {
		b = str(b, v)
	}
	return w.Raw(key, 9, b)
}

// Ints adds an array of int32.
func (w *Builder) Ints(key string, vs []int32) *Builder {
	b := le.AppendUint64(le.AppendUint32(nil, 5), uint64(len(vs)))
	for _, v := range vs {
		b = le.AppendUint32(b, uint32(v))
	}
	return w.Raw(key, 9, b)
}

// Floats adds an array of float32.
func (w *Builder) Floats(key string, vs []float32) *Builder {
	b := le.AppendUint64(le.AppendUint32(nil, 6), uint64(len(vs)))
	for _, v := range vs {
		b = le.AppendUint32(b, math.Float32bits(v))
	}
	return w.Raw(key, 9, b)
}

// Tensor adds a tensor at the next aligned offset. Dims are in ggml order, data
// is in the encoding of t.
func (w *Builder) Tensor(name string, t gguf.Type, dims []uint64, data []byte) *Builder {
	for uint64(len(w.data))%w.align() != 0 {
		w.data = append(w.data, 0)
	}
	w.Entry(name, t, dims, uint64(len(w.data)))
	w.data = append(w.data, data...)
	return w
}

// F32 adds a tensor of float32 values.
func (w *Builder) F32(name string, dims []uint64, values []float32) *Builder {
	var b []byte
	for _, v := range values {
		b = le.AppendUint32(b, math.Float32bits(v))
	}
	return w.Tensor(name, gguf.F32, dims, b)
}

// Entry adds a line of the tensor table without any data.
func (w *Builder) Entry(name string, t gguf.Type, dims []uint64, offset uint64) *Builder {
	w.table = le.AppendUint32(str(w.table, name), uint32(len(dims)))
	for _, d := range dims {
		w.table = le.AppendUint64(w.table, d)
	}
	w.table = le.AppendUint64(le.AppendUint32(w.table, uint32(t)), offset)
	w.nTensors++
	return w
}

// Bytes is the whole file.
func (w *Builder) Bytes() []byte {
	b := le.AppendUint32([]byte("GGUF"), or(w.Version, 3))
	b = le.AppendUint64(le.AppendUint64(b, or(w.Tensors, w.nTensors)), or(w.Keys, w.nKeys))
	b = append(append(b, w.meta...), w.table...)
	for uint64(len(b))%w.align() != 0 {
		b = append(b, 0)
	}
	return append(b, w.data...)
}

func (w *Builder) align() uint64 { return or(w.Alignment, 32) }

func or[T uint32 | uint64](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}
