package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// near fails unless got is want within rel of its size, or abs.
func near(t *testing.T, what string, i int, got float32, want, rel, abs float64) {
	t.Helper()
	if !(math.Abs(float64(got)-want) <= rel*math.Abs(want)+abs) {
		t.Fatalf("%s: value %d is %g, want %g", what, i, got, want)
	}
}

const ulp = 0x1p-23

func TestVectorAgainstFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for _, n := range []int{1, 7, 8, 9, 576, 1531} {
		x, y, z := randomFloats(r, n), randomFloats(r, n), randomFloats(r, n)
		got, squares, dst := make([]float32, n), 0.0, clone(z)
		for _, v := range x {
			squares += float64(v) * float64(v)
		}
		RMSNorm(got, x, y, 1e-5)
		SwiGLU(dst, x, y)
		Add(z, x)
		for i := range x {
			a, b := float64(x[i]), float64(y[i])
			near(t, "RMSNorm", i, got[i], a/math.Sqrt(squares/float64(n)+1e-5)*b, float64(n/8+4)*ulp, 0)
			near(t, "SwiGLU", i, dst[i], a/(1+math.Exp(-a))*b, 8*ulp, 0x1p-100)
		}
	}
}

func TestExpAgainstFloat64(t *testing.T) {
	for x := float32(-79.9); x < 87; x += 0.00917 {
		near(t, "exp", int(x), exp32(x), math.Exp(float64(x)), 2*ulp, 0)
	}
	for x, want := range map[float32]float32{0: 1, -80.001: 0, float32(math.Inf(-1)): 0} {
		if got := exp32(x); got != want {
			t.Errorf("exp(%g) = %g, want %g", x, got, want)
		}
	}
	if nan := exp32(float32(math.NaN())); nan == nan {
		t.Errorf("exp(NaN) = %g", nan)
	}
}

func TestSamplerFunctionsAgainstFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	for _, n := range []int{1, 8, 13, 1024, 5003, 49152} {
		x := randomFloats(r, n)
		top, at, sum := math.Inf(-1), -1, 0.0
		for i, v := range x {
			if float64(v) > top {
				top, at = float64(v), i
			}
		}
		for _, v := range x {
			sum += math.Exp(float64(v) - top)
		}
		if got := ArgMax(x); got != at {
			t.Errorf("ArgMax of %d values: %d, want %d", n, got, at)
		}
		near(t, "LogSumExp", n, LogSumExp(x), top+math.Log(sum), 4*ulp, 4*ulp)
		soft, total := clone(x), 0.0
		SoftmaxInPlace(soft)
		for i, v := range soft {
			near(t, "Softmax", i, v, math.Exp(float64(x[i])-top)/sum, 70*ulp, 0x1p-110)
			total += float64(v)
		}
		near(t, "Softmax sum", n, float32(total), 1, 1e-5, 0)
	}
	inf := float32(math.Inf(-1))
	if got := ArgMax([]float32{3, 5, 5, float32(math.NaN())}); got != 1 {
		t.Errorf("the lowest of equal values: %d", got)
	}
	if ArgMax(nil) != -1 || LogSumExp(nil) != inf || LogSumExp([]float32{inf, inf}) != inf {
		t.Error("empty or impossible choices")
	}
}

// TestRopeAgainstFloat64 turns pairs by pos * base^(-2i/dim), in both orders of
// pairing, at positions that the table has and has not yet.
func TestRopeAgainstFloat64(t *testing.T) {
	const heads, dim, base = 3, 64, 10000
	r := rand.New(rand.NewPCG(13, 13))
	table := NewRope(dim, base, 16)
	for _, pos := range []int{0, 1, 15, 16, 2047, 5000} {
		x := randomFloats(r, heads*dim)
		normal, neox := clone(x), clone(x)
		table.Apply(normal, heads, pos)
		table.ApplyNeox(neox, heads, pos)
		for h := range heads {
			for i := range dim / 2 {
				sin, cos := math.Sincos(float64(pos) * math.Pow(base, -2*float64(i)/dim))
				for _, c := range []struct {
					got  []float32
					a, b int
				}{{normal, h*dim + 2*i, h*dim + 2*i + 1}, {neox, h*dim + i, h*dim + i + dim/2}} {
					u, v := float64(x[c.a]), float64(x[c.b])
					size := (math.Abs(u) + math.Abs(v)) * 2 * ulp
					near(t, "rope", c.a, c.got[c.a], u*cos-v*sin, 0, size)
					near(t, "rope", c.b, c.got[c.b], v*cos+u*sin, 0, size)
				}
			}
		}
	}
}

// TestPutThenRead: what Put stores is the half-precision value, in the documented
// place, with ±65504 for anything larger.
func TestPutThenRead(t *testing.T) {
	const kvHeads, dim, slot = 2, 48, 17
	r := rand.New(rand.NewPCG(14, 14))
	k, v := randomFloats(r, kvHeads*dim), randomFloats(r, kvHeads*dim)
	k[5], v[70] = 1e9, float32(math.Inf(-1))
	pg := NewPages(1, kvHeads, dim)[0]
	pg.Put(slot, k, v, kvHeads, dim)
	for h := range kvHeads {
		for d := range dim {
			i := h*dim + d
			near(t, "key", i, half16(pg.K[i*PageTokens+slot]), float64(min(k[i], maxHalf)), 0x1p-11, 0x1p-24)
			near(t, "value", i, half16(pg.V[(h*PageTokens+slot)*dim+d]), float64(max(v[i], -maxHalf)), 0x1p-11, 0x1p-24)
		}
	}
}

func TestNames(t *testing.T) {
	if Q4_1.String() != "Q4_1" || Format(99).String() != "Format(99)" || Int8.String() != "int8" || Float32.String() != "float32" {
		t.Error("names of formats and modes")
	}
	if Q8_0.RowBytes(64) != 68 || Q4_1.BlockLen() != 32 || F16.BlockBytes() != 2 {
		t.Error("sizes of formats")
	}
	if want := map[[2]bool]string{{true, true}: "avx512+vnni", {true, false}: "avx2+fma", {}: "generic"}[[2]bool{accelerated, vnni}]; ISA() != want {
		t.Errorf("ISA %s, want %s", ISA(), want)
	}
}
