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

func packBF16(dst []byte, src *[tileRows][]byte) {
	out := halvesOf(dst)
	for r, s := range src {
		if s != nil {
			out[brainAt(r)] = binary.LittleEndian.Uint16(s)
		}
	}
}

func unpackBF16(dst []float32, tile []byte, r int) { dst[0] = brain16(halvesOf(tile)[brainAt(r)]) }

// brainAt is the place of row r in a BF16 tile.
func brainAt(r int) int { return r%8*2 + r/8 }

// brain16 widens a bfloat16, which is the upper half of a float32.
func brain16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }
