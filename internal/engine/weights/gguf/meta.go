package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"macaron/internal/errs"
)

// kind is the type of a metadata value, by its number in the format.
type kind uint32

const (
	kUint8 kind = iota
	kInt8
	kUint16
	kInt16
	kUint32
	kInt32
	kFloat32
	kBool
	kString
	kArray
	kUint64
	kInt64
	kFloat64
)

// widths of the fixed-size kinds, bytes.
var widths = map[kind]uint64{kUint8: 1, kInt8: 1, kUint16: 2, kInt16: 2, kUint32: 4, kInt32: 4, kFloat32: 4,
	kBool: 1, kUint64: 8, kInt64: 8, kFloat64: 8}

// value is an entry whose extent was checked; its bytes are decoded when asked for.
type value struct {
	kind  kind
	array bool
	count uint64 // elements; 1 for a scalar
	bytes []byte // the elements: fixed-size ones back to back, strings each with its length
}

// Meta is the metadata of a file. Getters return a FormatInvalid error that names
// the key when it is missing or holds another type. The zero Meta is empty.
type Meta struct {
	keys   []string
	values map[string]value
}

// parseMeta reads n entries; n was bounded by the caller.
func parseMeta(c *cursor, n uint64) (Meta, error) {
	m := Meta{values: make(map[string]value)}
	for i := range n {
		key, err := c.str(MaxKeyLen, fmt.Sprintf("metadata key %d", i))
		if err != nil {
			return Meta{}, err
		}
		if len(key) == 0 || !utf8.Valid(key) {
			return Meta{}, bad("metadata key %d is empty or not UTF-8", i)
		}
		k := string(key)
		if _, dup := m.values[k]; dup {
			return Meta{}, bad("the metadata key %q appears twice", k)
		}
		v, err := parseValue(c, k)
		if err != nil {
			return Meta{}, err
		}
		m.keys = append(m.keys, k)
		m.values[k] = v
	}
	return m, nil
}

func parseValue(c *cursor, key string) (value, error) {
	what := "the value of " + key
	t, err := c.u32(what)
	if err != nil {
		return value{}, err
	}
	v := value{kind: kind(t), count: 1}
	if v.kind == kArray {
		v.array = true
		if t, err = c.u32(what); err != nil {
			return value{}, err
		}
		if v.kind = kind(t); v.kind == kArray {
			return value{}, bad("%s is an array of arrays, which no model needs", what)
		}
		if v.count, err = c.u64(what); err != nil {
			return value{}, err
		}
	}
	if v.kind == kString {
		v.bytes, err = skipStrings(c, v.count, what)
		return v, err
	}
	w, ok := widths[v.kind]
	if !ok {
		return value{}, bad("%s has the unknown type %d", what, t)
	}
	size, ok := mul(v.count, w)
	if !ok {
		return value{}, bad("%s claims %d elements", what, v.count)
	}
	v.bytes, err = c.take(size, what)
	return v, err
}

// skipStrings walks over count strings and returns the bytes they take.
func skipStrings(c *cursor, count uint64, what string) ([]byte, error) {
	if count > c.left()/8 {
		return nil, bad("%s claims %d strings, more than the file can hold", what, count)
	}
	start := c.off
	for range count {
		if _, err := c.str(math.MaxUint64, what); err != nil {
			return nil, err
		}
	}
	return c.b[start:c.off:c.off], nil
}

// Keys lists the keys in file order; the caller may keep but not change it.
func (m Meta) Keys() []string { return m.keys }

// Has tells whether the key exists, with any type.
func (m Meta) Has(key string) bool {
	_, ok := m.values[key]
	return ok
}

// get finds a value and checks its shape and, with want, its kind.
func (m Meta) get(key string, array bool, want func(kind) bool, name string) (value, error) {
	v, ok := m.values[key]
	if !ok {
		return value{}, errs.New(errs.FormatInvalid, fmt.Sprintf("the model file has no metadata key %s", key), "use a model file made for its architecture").In(key)
	}
	if v.array != array || !want(v.kind) {
		return value{}, bad("the metadata key %s does not hold %s", key, name)
	}
	if v.count > MaxElements {
		return value{}, bad("the metadata key %s has %d elements, at most %d are read", key, v.count, MaxElements)
	}
	return v, nil
}

func isKind(k kind) func(kind) bool { return func(got kind) bool { return got == k } }

func isInteger(k kind) bool {
	return k <= kInt32 || k == kUint64 || k == kInt64
}

func isFloat(k kind) bool { return k == kFloat32 || k == kFloat64 }

// integer decodes the integer at index i; neg tells that it is below zero.
func (v value) integer(i uint64) (bits uint64, neg bool) {
	b := v.bytes[i*widths[v.kind]:]
	le := binary.LittleEndian
	switch v.kind {
	case kUint8:
		return uint64(b[0]), false
	case kUint16:
		return uint64(le.Uint16(b)), false
	case kUint32:
		return uint64(le.Uint32(b)), false
	case kInt8:
		return uint64(int64(int8(b[0]))), int8(b[0]) < 0
	case kInt16:
		return uint64(int64(int16(le.Uint16(b)))), int16(le.Uint16(b)) < 0
	case kInt32:
		return uint64(int64(int32(le.Uint32(b)))), int32(le.Uint32(b)) < 0
	case kInt64:
		return le.Uint64(b), int64(le.Uint64(b)) < 0
	}
	return le.Uint64(b), false
}

func (v value) float(i uint64) float64 {
	if v.kind == kFloat32 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v.bytes[i*4:])))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(v.bytes[i*8:]))
}
