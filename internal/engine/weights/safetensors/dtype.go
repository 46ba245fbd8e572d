package safetensors

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"macaron/internal/errs"
)

// DType is the type of a tensor's elements, by its name in the format.
type DType string

// The types that are read and written.
const (
	F64  DType = "F64"
	F32  DType = "F32"
	F16  DType = "F16"
	BF16 DType = "BF16"
	I64  DType = "I64"
	I32  DType = "I32"
	I16  DType = "I16"
	I8   DType = "I8"
	U8   DType = "U8"
	Bool DType = "BOOL"
)

var sizes = map[DType]int{F64: 8, F32: 4, F16: 2, BF16: 2, I64: 8, I32: 4, I16: 2, I8: 1, U8: 1, Bool: 1}

// Size is the bytes of one element, 0 for an unknown type.
func (d DType) Size() int { return sizes[d] }

// Float32 decodes a tensor of any float type to float32, rounding F64 to nearest.
// Another type is an Unsupported error.
func (t *Tensor) Float32() ([]float32, error) {
	le := binary.LittleEndian
	out := make([]float32, t.Elements())
	switch t.DType {
	case F32:
		for i := range out {
			out[i] = math.Float32frombits(le.Uint32(t.Data[4*i:]))
		}
	case F64:
		for i := range out {
			out[i] = float32(math.Float64frombits(le.Uint64(t.Data[8*i:])))
		}
	case BF16:
		for i := range out {
			out[i] = math.Float32frombits(uint32(le.Uint16(t.Data[2*i:])) << 16)
		}
	case F16:
		for i := range out {
			out[i] = Half(le.Uint16(t.Data[2*i:]))
		}
	default:
		return nil, errs.New(errs.Unsupported, fmt.Sprintf("tensor %s holds %s, not floats", t.Name, t.DType), "store the tensor as F16, BF16 or F32")
	}
	return out, nil
}

// Half is the value of an IEEE 754 half-precision number; NaN payloads are kept.
func Half(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exp, frac := uint32(h>>10)&0x1f, uint32(h)&0x3ff
	switch exp {
	case 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	case 0:
		f := float32(frac) / (1 << 24) // subnormal: exact
		return math.Float32frombits(math.Float32bits(f) | sign)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// FromFloat32 makes an F32 tensor of a copy of values.
func FromFloat32(name string, shape []uint64, values []float32) Tensor {
	data := make([]byte, 0, 4*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return Tensor{Name: name, DType: F32, Shape: slices.Clone(shape), Data: data}
}
