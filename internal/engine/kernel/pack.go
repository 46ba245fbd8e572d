package kernel

import (
	"encoding/binary"
	"math"
)

// F32 and F16 tiles: for each k, the 16 rows' values side by side.
//
//	k=0: r0 r1 .. r15 | k=1: r0 r1 .. r15 | ...

func packF32(dst []byte, src *[tileRows][]byte) {
	out := floatsOf(dst)
	for r, s := range src {
		if s != nil {
			out[r] = math.Float32frombits(binary.LittleEndian.Uint32(s))
		}
	}
}

func unpackF32(dst []float32, tile []byte, r int) { dst[0] = floatsOf(tile)[r] }

func packF16(dst []byte, src *[tileRows][]byte) {
	out := halvesOf(dst)
	for r, s := range src {
		if s != nil {
			out[r] = binary.LittleEndian.Uint16(s)
		}
	}
}

func unpackF16(dst []float32, tile []byte, r int) { dst[0] = half16(halvesOf(tile)[r]) }

// Q4_1 tile of one 32-block, 320 bytes. A 4-byte cell holds the file's nibble bytes
// 4g..4g+3 of a row: low nibbles are k = 4g.., high nibbles k = 16+4g..
//
//	0   g=0: r0 r1 .. r7 (8 cells), r8 .. r15 (8 cells)
//	64  g=1: ...                                      up to g=3
//	256 d: 16 x f16 | 288 m: 16 x f16
func packQ41(dst []byte, src *[tileRows][]byte) {
	d := halvesOf(dst[256:])
	for r, s := range src {
		if s == nil {
			continue
		}
		d[r] = binary.LittleEndian.Uint16(s)
		d[tileRows+r] = binary.LittleEndian.Uint16(s[2:])
		for g := range 4 {
			copy(dst[64*g+4*r:][:4], s[4+4*g:])
		}
	}
}

func unpackQ41(dst []float32, tile []byte, r int) {
	s := halvesOf(tile[256:])
	d, m := half16(s[r]), half16(s[tileRows+r])
	var value [16]float32
	for q := range value {
		value[q] = fma32(float32(q), d, m)
	}
	for g := range 4 {
		for i, q := range tile[64*g+4*r:][:4] {
			dst[4*g+i], dst[16+4*g+i] = value[q&15], value[q>>4]
		}
	}
}

// Q8_0 tile of one 32-block, 544 bytes. A 4-byte cell holds k = 4g..4g+3 of a row.
//
//	0   g=0: r0 .. r7 (8 cells), r8 .. r15 (8 cells)
//	64  g=1: ...                                      up to g=7
//	512 d: 16 x f16
func packQ80(dst []byte, src *[tileRows][]byte) {
	d := halvesOf(dst[512:])
	for r, s := range src {
		if s == nil {
			continue
		}
		d[r] = binary.LittleEndian.Uint16(s)
		for g := range 8 {
			copy(dst[64*g+4*r:][:4], s[2+4*g:])
		}
	}
}

func unpackQ80(dst []float32, tile []byte, r int) {
	d := half16(halvesOf(tile[512:])[r])
	for g := range 8 {
		for i, q := range tile[64*g+4*r:][:4] {
			dst[4*g+i] = float32(int8(q)) * d
		}
	}
}
