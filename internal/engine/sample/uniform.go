package sample

import "math/bits"

// Uniform is the random number in [0, 1) of a position under a seed: a counter-based
// generator (ten rounds of Philox 2x64), so that no state is carried between tokens.
func Uniform(seed, position uint64) float64 {
	const multiplier, weyl = 0xD2B74407B1CE6E93, 0x9E3779B97F4A7C15
	x0, x1, key := position, uint64(0), seed
	for range 10 {
		hi, lo := bits.Mul64(multiplier, x0)
		x0, x1 = hi^key^x1, lo
		key += weyl
	}
	return float64(x0>>11) / (1 << 53)
}
