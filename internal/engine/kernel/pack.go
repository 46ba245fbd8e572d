package kernel

import (
	"encoding/binary"
	"math"
)

// F32 and F16 tiles: for each k, the 16 rows' values side by side. In BF16 tiles rows r
// and 8+r share 4 bytes, so that a shift and a mask widen them.
//
//	k=0: r0 r1 .. r15 | k=1: r0 r1 .. r15 | ...
//	k=0: r0 r8 r1 r9 .. r7 r15 | k=1: ...

func packF32(dst []byte, src *[tileRows][]byte) {
	out := floatsOf(dst)
	for r, s := range src {
		for i := range len(s) / 4 {
			out[i*tileRows+r] = math.Float32frombits(binary.LittleEndian.Uint32(s[4*i:]))
		}
	}
}

func unpackF32(dst []float32, tile []byte, r int) {
	in := floatsOf(tile)
	for i := range dst {
		dst[i] = in[i*tileRows+r]
	}
}

func packF16(dst []byte, src *[tileRows][]byte) {
	for r, s := range src {
		pack16(dst, r, s)
	}
}

func packBF16(dst []byte, src *[tileRows][]byte) {
	for r, s := range src {
		pack16(dst, brainAt(r), s)
	}
}

// pack16 copies the 16-bit values of a row to place at of each 16.
func pack16(dst []byte, at int, s []byte) {
	out := halvesOf(dst)
	for i := range len(s) / 2 {
		out[i*tileRows+at] = binary.LittleEndian.Uint16(s[2*i:])
	}
}

func unpackF16(dst []float32, tile []byte, r int) {
	in := halvesOf(tile)
	for i := range dst {
		dst[i] = half16(in[i*tileRows+r])
	}
}

func unpackBF16(dst []float32, tile []byte, r int) {
	in := halvesOf(tile)
	for i := range dst {
		dst[i] = brain16(in[i*tileRows+brainAt(r)])
	}
}

// brainAt is the place of row r in a BF16 tile.
func brainAt(r int) int { return r%8*2 + r/8 }

// brain16 widens a bfloat16, which is the upper half of a float32.
func brain16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }
