package kernel

import "math"

// GeGLU computes dst = gelu(gate) * up with the tanh approximation of GELU (Hendrycks
// and Gimpel, arXiv:1606.08415): since (1 + tanh u)/2 = 1/(1 + exp(-2u)),
//
//	gelu(x) = x / (1 + exp(-2 sqrt(2/pi) (x + 0.044715 x³)))
//
// dst may be gate or up.
func GeGLU(dst, gate, up []float32) {
	sameLen("GeGLU", len(dst), len(gate), len(up))
	geglu(dst, gate, up)
}

// GELU replaces x by x * (1 + erf(x/sqrt(2))) / 2.
func GELU(x []float32) { gelu(x) }

func geluRef(x []float32) {
	for i, v := range x {
		x[i] = gelu32(v)
	}
}

// Constants of geluTanh's exponent: 2 sqrt(2/pi), and 0.044715 of that.
const (
	geluLinear = 1.5957691
	geluCubic  = 0.07135481
)

func gegluRef(dst, gate, up []float32) {
	for i, g := range gate {
		u := float32(g * fma32(float32(g*g), geluCubic, geluLinear))
		dst[i] = float32(g/(1+exp32(-u))) * up[i]
	}
}

// Coefficients of the error function's complement for x >= 0 (Abramowitz and Stegun,
// 7.1.26): erfc(x) = (a1 t + ... + a5 t⁵) exp(-x²), t = 1/(1 + p x), off by at most 1.5e-7.
const erfcP = 0.3275911

var erfcPoly = [5]float32{1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592}

func gelu32(v float32) float32 {
	z := math.Float32frombits(math.Float32bits(float32(v*0.70710678)) &^ (1 << 31))
	t := 1 / fma32(erfcP, z, 1)
	p := erfcPoly[0]
	for _, c := range erfcPoly[1:] {
		p = fma32(p, t, c)
	}
	half := float32(float32(float32(p*t)*exp32(-float32(z*z))) * 0.5) // erfc(|z|)/2
	if v < 0 {
		return float32(v * half)
	}
	return fma32(-v, half, v)
}
