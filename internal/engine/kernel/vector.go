package kernel

import (
	"fmt"
	"math"
)

// RMSNorm computes dst = x / sqrt(mean(x²) + eps) * w. dst may be x.
func RMSNorm(dst, x, w []float32, eps float32) {
	sameLen("RMSNorm", len(dst), len(x), len(w))
	rmsNorm(dst, x, w, eps)
}

// SwiGLU computes dst = gate / (1 + exp(-gate)) * up. dst may be gate or up.
func SwiGLU(dst, gate, up []float32) {
	sameLen("SwiGLU", len(dst), len(gate), len(up))
	swiglu(dst, gate, up)
}

// Add computes dst += x.
func Add(dst, x []float32) {
	sameLen("Add", len(dst), len(x), len(x))
	addTo(dst, x)
}

func sameLen(what string, a, b, c int) {
	if a != b || b != c {
		panic(fmt.Sprintf("kernel: %s of %d, %d and %d values", what, a, b, c))
	}
}

// rmsNormRef sums squares in eight lanes.
func rmsNormRef(dst, x, w []float32, eps float32) {
	if len(x) == 0 {
		return
	}
	var lanes [8]float32
	for i, v := range x {
		lanes[i&7] = fma32(v, v, lanes[i&7])
	}
	mean := fold8(&lanes) / float32(len(x))
	inv := 1 / float32(math.Sqrt(float64(mean+eps)))
	for i, v := range x {
		dst[i] = float32(v*inv) * w[i]
	}
}

func swigluRef(dst, gate, up []float32) {
	for i, g := range gate {
		dst[i] = float32(g/(1+exp32(-g))) * up[i]
	}
}

func addRef(dst, x []float32) {
	for i, v := range x {
		dst[i] += v
	}
}
