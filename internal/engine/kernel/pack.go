package kernel

import (
	"encoding/binary"
	"math"
)

// F32, F16 and BF16 tiles: for each k, the 16 rows' values side by side.
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

// packF16 serves BF16 as well: both are 16 bits that stay as they are.
func packF16(dst []byte, src *[tileRows][]byte) {
	out := halvesOf(dst)
	for r, s := range src {
		if s != nil {
			out[r] = binary.LittleEndian.Uint16(s)
		}
	}
}

func unpackF16(dst []float32, tile []byte, r int)  { dst[0] = half16(halvesOf(tile)[r]) }
func unpackBF16(dst []float32, tile []byte, r int) { dst[0] = brain16(halvesOf(tile)[r]) }

// brain16 widens a bfloat16, which is the upper half of a float32.
func brain16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }
