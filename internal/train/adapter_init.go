package train

import (
	"math"
	"math/bits"
)

// initialise sets A to uniform values between +-1/sqrt(in), which is what PyTorch's
// kaiming_uniform_ with a = sqrt(5) gives a linear layer, and leaves B zero.
func (t *Trainer) initialise() {
	for _, m := range t.layout.Modules {
		a, _ := t.layout.Parts(m, t.master)
		bound := 1 / math.Sqrt(float64(m.In))
		for i := range a {
			a[i] = float32((2*uniform(t.spec.Seed, uint64(m.A+i)) - 1) * bound)
		}
	}
}

// uniform is the random number in [0, 1) at a position under a seed: the finaliser of
// SplitMix64 over seed and position, so that a value depends on its place alone and the
// same seed gives the same bytes everywhere.
func uniform(seed, position uint64) float64 {
	return float64(mix(mix(seed)+bits.RotateLeft64(position, 32))>>11) / (1 << 53)
}

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
