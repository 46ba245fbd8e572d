package scripted

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
)

// bits draws from the SHA-256 of what the draw is for: equal arguments draw equally, on every
// machine and in every order.
func bits(parts ...any) [32]byte {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%v\x00", p)
	}
	return [32]byte(h.Sum(nil))
}

// uniform draws from [0, 1).
func uniform(parts ...any) float64 {
	b := bits(parts...)
	return float64(binary.LittleEndian.Uint64(b[:8])>>11) / (1 << 53)
}

// normal draws from the standard normal distribution (Box and Muller 1958).
func normal(parts ...any) float64 {
	b := bits(parts...)
	u := (float64(binary.LittleEndian.Uint64(b[:8])>>11) + 1) / (1 << 53)
	v := float64(binary.LittleEndian.Uint64(b[8:16])>>11) / (1 << 53)
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}
