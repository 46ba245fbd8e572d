package gguf

import "fmt"

// Type is a ggml tensor encoding, by its number in the file format.
type Type uint32

// The encodings that a file may name. Reading the table needs their sizes; what
// can be computed with is the engine's affair.
const (
	F32    Type = 0
	F16    Type = 1
	Q4_0   Type = 2
	Q4_1   Type = 3
	Q5_0   Type = 6
	Q5_1   Type = 7
	Q8_0   Type = 8
	Q8_1   Type = 9
	Q2K    Type = 10
	Q3K    Type = 11
	Q4K    Type = 12
	Q5K    Type = 13
	Q6K    Type = 14
	Q8K    Type = 15
	IQ2XXS Type = 16
	IQ2XS  Type = 17
	IQ3XXS Type = 18
	IQ1S   Type = 19
	IQ4NL  Type = 20
	IQ3S   Type = 21
	IQ2S   Type = 22
	IQ4XS  Type = 23
	I8     Type = 24
	I16    Type = 25
	I32    Type = 26
	I64    Type = 27
	F64    Type = 28
	IQ1M   Type = 29
	BF16   Type = 30
	TQ1_0  Type = 34
	TQ2_0  Type = 35
	MXFP4  Type = 39
	NVFP4  Type = 40
	Q1_0   Type = 41
	Q2_0   Type = 42
)

type layout struct {
	name  string
	block uint64 // elements in a block
	bytes uint64 // bytes of a block
}

var layouts = map[Type]layout{
	F32: {"F32", 1, 4}, F16: {"F16", 1, 2}, BF16: {"BF16", 1, 2}, F64: {"F64", 1, 8},
	I8: {"I8", 1, 1}, I16: {"I16", 1, 2}, I32: {"I32", 1, 4}, I64: {"I64", 1, 8},
	Q4_0: {"Q4_0", 32, 18}, Q4_1: {"Q4_1", 32, 20}, Q5_0: {"Q5_0", 32, 22}, Q5_1: {"Q5_1", 32, 24},
	Q8_0: {"Q8_0", 32, 34}, Q8_1: {"Q8_1", 32, 36},
	Q2K: {"Q2_K", 256, 84}, Q3K: {"Q3_K", 256, 110}, Q4K: {"Q4_K", 256, 144}, Q5K: {"Q5_K", 256, 176},
	Q6K: {"Q6_K", 256, 210}, Q8K: {"Q8_K", 256, 292},
	IQ2XXS: {"IQ2_XXS", 256, 66}, IQ2XS: {"IQ2_XS", 256, 74}, IQ3XXS: {"IQ3_XXS", 256, 98}, IQ1S: {"IQ1_S", 256, 50},
	IQ4NL: {"IQ4_NL", 32, 18}, IQ3S: {"IQ3_S", 256, 110}, IQ2S: {"IQ2_S", 256, 82}, IQ4XS: {"IQ4_XS", 256, 136},
	IQ1M: {"IQ1_M", 256, 56}, TQ1_0: {"TQ1_0", 256, 54}, TQ2_0: {"TQ2_0", 256, 66},
	MXFP4: {"MXFP4", 32, 17}, NVFP4: {"NVFP4", 64, 36}, Q1_0: {"Q1_0", 128, 18}, Q2_0: {"Q2_0", 64, 18},
}

// Known tells whether the encoding has a defined size.
func (t Type) Known() bool { return layouts[t].bytes != 0 }

// Block is the number of elements in one block, and the block's bytes; both are
// 0 for an unknown type.
func (t Type) Block() (elements, bytes uint64) {
	l := layouts[t]
	return l.block, l.bytes
}

// RowBytes is the size of a row of n elements; ok is false when n is not a whole
// number of blocks, when the type is unknown, or when the size overflows.
func (t Type) RowBytes(n uint64) (size uint64, ok bool) {
	l := layouts[t]
	if l.block == 0 || n%l.block != 0 {
		return 0, false
	}
	return mul(n/l.block, l.bytes)
}

// String is the name that ggml uses.
func (t Type) String() string {
	if l, ok := layouts[t]; ok {
		return l.name
	}
	return fmt.Sprintf("type %d", uint32(t))
}
