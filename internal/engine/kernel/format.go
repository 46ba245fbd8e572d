package kernel

import "fmt"

// Format is how the values of a weight matrix are stored.
type Format uint8

const (
	F32  Format = iota // IEEE single
	F16                // IEEE half
	BF16               // the upper half of IEEE single
	Q4_0               // 32 values: f16 d, 16 bytes of nibbles; w = d*(q-8)
	Q4_1               // 32 values: f16 d, f16 m, 16 bytes of nibbles; w = d*q + m
	Q5_0               // 32 values: f16 d, 32 fifth bits, 16 bytes of nibbles; w = d*(q-16)
	Q5_1               // 32 values: f16 d, f16 m, 32 fifth bits, 16 bytes of nibbles; w = d*q + m
	Q8_0               // 32 values: f16 d, 32 int8; w = d*q
	Q4_K               // 256 values, 8 groups of 32: f16 d, f16 e, 6-bit sc and mn per group; w = d*sc*q - e*mn
	Q5_K               // as Q4_K, q of 5 bits
	Q6_K               // 256 values, 16 groups of 16: f16 d, int8 sc per group; w = d*sc*(q-32)
)

// layout says how one format is stored in files and packed for the kernels.
type layout struct {
	name  string
	block int // values per block
	bytes int // bytes per block of one row in the file
	tile  int // bytes per block of 16 packed rows
	// pack writes run blocks of 16 rows; src holds each row's part of the file, nil beyond
	// the last row.
	pack func(dst []byte, src *[tileRows][]byte)
	// unpack gives row r of run packed blocks, dequantised.
	unpack func(dst []float32, tile []byte, r int)
	// codes gives the integers of row r in group sub of one packed block, for the Int8
	// product; nil for formats that always use f32 activations.
	codes codesFunc
	// scales gives the factors that go with codes: w = d*q + m.
	scales scalesFunc
	// offset tells whether m takes part in the product; if not, it is zero.
	offset bool
}

// run is how many blocks pack and unpack take at most: values without a block some
// kilobytes at a time, which stay in the first-level cache.
func (l *layout) run() int {
	if l.block == 1 {
		return 64
	}
	return 1
}

// tileRows is the number of weight rows that the kernels handle side by side.
const tileRows = 16

var layouts = [...]layout{
	F32:  {name: "F32", block: 1, bytes: 4, tile: 64, pack: packF32, unpack: unpackF32},
	F16:  {name: "F16", block: 1, bytes: 2, tile: 32, pack: packF16, unpack: unpackF16},
	BF16: {name: "BF16", block: 1, bytes: 2, tile: 32, pack: packBF16, unpack: unpackBF16},
	Q4_0: {name: "Q4_0", block: 32, bytes: 18, tile: 288, pack: packQ40, unpack: unpackQ40, codes: codesQ4, scales: scalesQ40, offset: true},
	Q4_1: {name: "Q4_1", block: 32, bytes: 20, tile: 320, pack: packQ41, unpack: unpackQ41, codes: codesQ4, scales: scalesQ41, offset: true},
	Q5_0: {name: "Q5_0", block: 32, bytes: 22, tile: 352, pack: packQ50, unpack: unpackQ50, codes: codesQ5, scales: scalesQ50, offset: true},
	Q5_1: {name: "Q5_1", block: 32, bytes: 24, tile: 384, pack: packQ51, unpack: unpackQ51, codes: codesQ5, scales: scalesQ51, offset: true},
	Q8_0: {name: "Q8_0", block: 32, bytes: 34, tile: 544, pack: packQ80, unpack: unpackQ80, codes: codesQ80, scales: scalesQ80},
	Q4_K: {name: "Q4_K", block: 256, bytes: 144, tile: 2304, pack: packQ4K, unpack: unpackQ4K, codes: codesQ4, scales: scalesQ4K, offset: true},
	Q5_K: {name: "Q5_K", block: 256, bytes: 176, tile: 2816, pack: packQ5K, unpack: unpackQ5K, codes: codesQ5, scales: scalesQ5K, offset: true},
	Q6_K: {name: "Q6_K", block: 256, bytes: 210, tile: 3360, pack: packQ6K, unpack: unpackQ6K, codes: codesQ6K, scales: scalesQ6K},
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

// quantised tells whether the format has a product with int8 activations.
func (f Format) quantised() bool { return layouts[f].codes != nil }

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
