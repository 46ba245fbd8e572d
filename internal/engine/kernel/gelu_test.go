package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestGELUAgainstFloat64(t *testing.T) {
	var gate, up []float32
	for x := float32(-12); x < 12; x += 0.0113 {
		gate, up = append(gate, x), append(up, 1.5)
	}
	exact := clone(gate)
	GELU(exact)
	got := make([]float32, len(gate))
	GeGLU(got, gate, up)
	for i, v := range gate {
		x := float64(v)
		u := math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x)
		near(t, "GeGLU", i, got[i], x/(1+math.Exp(-2*u))*1.5, 64*ulp, 1e-12) // x*(1+tanh(u))/2 without the cancellation
		near(t, "GELU", i, exact[i], x*math.Erfc(-x/math.Sqrt2)/2, 4*ulp, 2e-7*math.Abs(x))
	}
}

func TestLayerNormAgainstFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	for _, n := range []int{1, 7, 8, 384, 385} {
		x, w, b := randomFloats(r, n), randomFloats(r, n), randomFloats(r, n)
		mean, variance := 0.0, 0.0
		for _, v := range x {
			mean += float64(v) / float64(n)
		}
		for _, v := range x {
			variance += (float64(v) - mean) * (float64(v) - mean) / float64(n)
		}
		got := make([]float32, n)
		LayerNorm(got, x, w, b, 1e-12)
		for i, v := range x {
			want := (float64(v)-mean)/math.Sqrt(variance+1e-12)*float64(w[i]) + float64(b[i])
			if n > 1 { // one value is its own mean
				near(t, "LayerNorm", i, got[i], want, 32*ulp, 1e-5)
			}
		}
	}
}
