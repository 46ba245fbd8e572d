package gguf

import (
	"encoding/binary"
	"math"
	"strings"
)

// String is a text value, copied out of the file. It need not be UTF-8.
func (m Meta) String(key string) (string, error) {
	v, err := m.get(key, false, isKind(kString), "a string")
	if err != nil {
		return "", err
	}
	return string(v.bytes[8:]), nil
}

// StringOr is String, or def when the key is missing.
func (m Meta) StringOr(key, def string) (string, error) {
	if !m.Has(key) {
		return def, nil
	}
	return m.String(key)
}

// Uint is an integer value of any width that is not negative.
func (m Meta) Uint(key string) (uint64, error) {
	v, err := m.get(key, false, isInteger, "an integer")
	if err != nil {
		return 0, err
	}
	n, neg := v.integer(0)
	if neg {
		return 0, bad("the metadata key %s is negative", key)
	}
	return n, nil
}

// UintOr is Uint, or def when the key is missing.
func (m Meta) UintOr(key string, def uint64) (uint64, error) {
	if !m.Has(key) {
		return def, nil
	}
	return m.Uint(key)
}

// Float is a float value of either width.
func (m Meta) Float(key string) (float64, error) {
	v, err := m.get(key, false, isFloat, "a float")
	if err != nil {
		return 0, err
	}
	return v.float(0), nil
}

// FloatOr is Float, or def when the key is missing.
func (m Meta) FloatOr(key string, def float64) (float64, error) {
	if !m.Has(key) {
		return def, nil
	}
	return m.Float(key)
}

// Bool is a boolean value; any byte but 0 and 1 is an error.
func (m Meta) Bool(key string) (bool, error) {
	v, err := m.get(key, false, isKind(kBool), "a boolean")
	if err != nil {
		return false, err
	}
	if v.bytes[0] > 1 {
		return false, bad("the metadata key %s holds %d, not a boolean", key, v.bytes[0])
	}
	return v.bytes[0] == 1, nil
}

// BoolOr is Bool, or def when the key is missing.
func (m Meta) BoolOr(key string, def bool) (bool, error) {
	if !m.Has(key) {
		return def, nil
	}
	return m.Bool(key)
}

// Bools is an array of booleans; any byte but 0 and 1 is an error.
func (m Meta) Bools(key string) ([]bool, error) {
	v, err := m.get(key, true, isKind(kBool), "an array of booleans")
	if err != nil {
		return nil, err
	}
	return decode(v, func(i uint64) (bool, error) {
		if v.bytes[i] > 1 {
			return false, bad("element %d of the metadata key %s holds %d, not a boolean", i, key, v.bytes[i])
		}
		return v.bytes[i] == 1, nil
	})
}

// Strings is an array of texts, copied out of the file. The copy holds the
// contents in one piece, so that keeping any string keeps all of them.
func (m Meta) Strings(key string) ([]string, error) {
	v, err := m.get(key, true, isKind(kString), "an array of strings")
	if err != nil {
		return nil, err
	}
	var all strings.Builder
	all.Grow(len(v.bytes) - int(8*v.count))
	for b := v.bytes; len(b) > 0; {
		n := binary.LittleEndian.Uint64(b)
		all.Write(b[8 : 8+n])
		b = b[8+n:]
	}
	text := all.String()
	out := make([]string, 0, v.count)
	for b := v.bytes; len(b) > 0; {
		n := binary.LittleEndian.Uint64(b)
		out = append(out, text[:n])
		text, b = text[n:], b[8+n:]
	}
	return out, nil
}

// Ints is an array of integers of any width; one that does not fit is an error.
func (m Meta) Ints(key string) ([]int64, error) {
	v, err := m.get(key, true, isInteger, "an array of integers")
	if err != nil {
		return nil, err
	}
	return decode(v, func(i uint64) (int64, error) {
		n, neg := v.integer(i)
		if !neg && n > math.MaxInt64 {
			return 0, bad("element %d of the metadata key %s is too large", i, key)
		}
		return int64(n), nil
	})
}

// Floats is an array of floats of either width.
func (m Meta) Floats(key string) ([]float64, error) {
	v, err := m.get(key, true, isFloat, "an array of floats")
	if err != nil {
		return nil, err
	}
	return decode(v, func(i uint64) (float64, error) { return v.float(i), nil })
}

// decode makes the slice of v's elements.
func decode[T any](v value, at func(uint64) (T, error)) ([]T, error) {
	out := make([]T, v.count)
	var err error
	for i := range out {
		if out[i], err = at(uint64(i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
