package kernel

import "encoding/binary"

// AppendHalves appends values in half precision, little-endian, rounded to nearest with
// ties to even and saturating at ±65504.
func AppendHalves(out []byte, values []float32) []byte {
	for _, v := range values {
		out = binary.LittleEndian.AppendUint16(out, toHalf(v))
	}
	return out
}
