package kernel

import "fmt"

// Format is how the values of a weight matrix are stored.
type Format uint8

const (
	F32  Format = iota // IEEE single
	F16                // IEEE half
	Q4_1               // 32 values: f16 d, f16 m, 16 bytes of nibbles; w = d*q + m
	Q8_0               // 32 values: f16 d, 32 int8; w = d*q
)

// layout says how one format is stored in files and packed for the kernels.
type layout struct {
	name  string
	block int // values per block
	bytes int // bytes per block of one row in the file
	tile  int // bytes per block of 16 packed rows
	// pack writes one block of 16 rows; src holds each row's file block, nil beyond the last row.
	pack func(dst []byte, src *[tileRows][]byte)
	// unpack gives row r of one packed block, dequantised.
	unpack func(dst []float32, tile []byte, r int)
	// quant is the Int8 product; nil for formats that always use f32 activations.
	quant *quantKernels
}

// tileRows is the number of weight rows that the kernels handle side by side.
const tileRows = 16

var layouts = [...]layout{
	F32:  {name: "F32", block: 1, bytes: 4, tile: 64, pack: packF32, unpack: unpackF32},
	F16:  {name: "F16", block: 1, bytes: 2, tile: 32, pack: packF16, unpack: unpackF16},
	Q4_1: {name: "Q4_1", block: 32, bytes: 20, tile: 320, pack: packQ41, unpack: unpackQ41, quant: &kernelsQ41},
	Q8_0: {name: "Q8_0", block: 32, bytes: 34, tile: 544, pack: packQ80, unpack: unpackQ80, quant: &kernelsQ80},
}

// String gives the name that GGUF tools use.
func (f Format) String() string {
	if !f.known() {
		return fmt.Sprintf("Format(%d)", uint8(f))
	}
	return layouts[f].name
}

// BlockLen is the number of consecutive values of a row that share one block.
func (f Format) BlockLen() int { return layouts[f].block }

// BlockBytes is the size of one block of one row in a file.
func (f Format) BlockBytes() int { return layouts[f].bytes }

// RowBytes is the size of a row of k values in a file; k is a multiple of BlockLen.
func (f Format) RowBytes(k int) int { return k / layouts[f].block * layouts[f].bytes }

func (f Format) known() bool { return int(f) < len(layouts) }

// Mode says what a product with quantised weights does to its activations.
type Mode uint8

const (
	Int8    Mode = iota // rounded to int8 per row and 32-block: the fast path
	Float32             // kept as float32, weights dequantised on the fly: exact, slow
)

// String names the mode.
func (m Mode) String() string {
	if m == Float32 {
		return "float32"
	}
	return "int8"
}
