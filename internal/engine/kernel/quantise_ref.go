package kernel

import (
	"encoding/binary"
	"math"
)

// tiny is the largest magnitude below which a block counts as zero (127/amax must
// stay finite).
const tiny = 0x1p-100

// quantiseRef writes row x as column c of a panel of the given width: per block of
// 32 values d = max|x|/127, q = x*(127/max|x|) rounded to even, s = d*sum(q), neg = -sum(q),
// neg16 = -sum(q[:16]).
// A block with a value that is not finite gets d = s = NaN, which reaches every result.
func quantiseRef(dst []byte, width, c int, x []float32) {
	for b := range len(x) / qBlock {
		v := x[b*qBlock:][:qBlock]
		block := dst[b*width*qColumn:][:width*qColumn]
		var top uint32
		for _, f := range v {
			top = max(top, math.Float32bits(f)&0x7fffffff)
		}
		amax := math.Float32frombits(top)
		d, id := amax/127, 127/amax
		switch {
		case top >= 255<<23:
			d, id = float32(math.NaN()), 0
		case amax < tiny:
			d, id = 0, 0
		}
		sum, sum16, q := int32(0), int32(0), block[c*qBlock:][:qBlock]
		for i, f := range v {
			var n int32
			if id != 0 {
				n = int32(math.RoundToEven(float64(f * id)))
			}
			q[i] = byte(n)
			sum += n
			if i < 16 {
				sum16 += n
			}
		}
		putFloat(block[width*qBlock+4*c:], d)
		putFloat(block[width*(qBlock+4)+4*c:], float32(sum)*d)
		binary.NativeEndian.PutUint32(block[width*(qBlock+8)+4*c:], uint32(-sum))
		binary.NativeEndian.PutUint32(block[width*(qBlock+12)+4*c:], uint32(-sum16))
	}
}

func putFloat(b []byte, f float32) { binary.NativeEndian.PutUint32(b, math.Float32bits(f)) }
func getFloat(b []byte) float32    { return math.Float32frombits(binary.NativeEndian.Uint32(b)) }
