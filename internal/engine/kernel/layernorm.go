package kernel

import "math"

// LayerNorm computes dst = (x - mean(x)) / sqrt(variance(x) + eps) * w + b. dst may be x.
func LayerNorm(dst, x, w, b []float32, eps float32) {
	sameLen("LayerNorm", len(dst), len(x), len(w))
	sameLen("LayerNorm", len(dst), len(b), len(b))
	if len(x) == 0 {
		return
	}
	var lanes [8]float32
	for i, v := range x {
		lanes[i&7] += v
	}
	mean := fold8(&lanes) / float32(len(x))
	lanes = [8]float32{}
	for i, v := range x {
		d := v - mean
		lanes[i&7] = fma32(d, d, lanes[i&7])
	}
	inv := 1 / float32(math.Sqrt(float64(float32(fold8(&lanes)/float32(len(x)))+eps)))
	for i, v := range x {
		dst[i] = fma32(float32((v-mean)*inv), w[i], b[i])
	}
}

// Scale computes x *= factor.
func Scale(x []float32, factor float32) { scaleBy(x, factor) }
