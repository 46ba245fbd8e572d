package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slopes compares gradients with central differences of a float64 function of all inputs.
func slopes(t *testing.T, what string, in [][]float32, got [][]float32, f func(in [][]float64) float64) {
	t.Helper()
	wide := make([][]float64, len(in))
	for i, x := range in {
		for _, v := range x {
			wide[i] = append(wide[i], float64(v))
		}
	}
	for i, grad := range got {
		for j, g := range grad {
			was, h := wide[i][j], 1e-5
			wide[i][j] = was + h
			up := f(wide)
			wide[i][j] = was - h
			want := (up - f(wide)) / (2 * h)
			wide[i][j] = was
			if !(math.Abs(float64(g)-want) < 2e-4*(1+math.Abs(want))) {
				t.Fatalf("%s: slope %d of input %d is %g, want %g", what, j, i, g, want)
			}
		}
	}
}

func TestBackwardOfVectorsAgainstDifferences(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	for _, n := range []int{1, 7, 8, 48, 61} {
		x, w, dy := randomFloats(r, n), randomFloats(r, n), randomFloats(r, n)
		dx := clone(dy)
		RMSNormBack(dx, dx, x, w, 1e-5)
		slopes(t, "RMSNorm", [][]float32{x}, [][]float32{dx}, func(in [][]float64) (sum float64) {
			squares := 0.0
			for _, v := range in[0] {
				squares += v * v
			}
			for i, v := range in[0] {
				sum += v / math.Sqrt(squares/float64(n)+1e-5) * float64(w[i]) * float64(dy[i])
			}
			return sum
		})
		gate, up := randomFloats(r, n), randomFloats(r, n)
		gates := func(back func(dg, du, dy, g, u []float32), act func(float64) float64, what string) {
			dg, du := clone(gate), clone(up)
			back(dg, du, dy, dg, du)
			slopes(t, what, [][]float32{gate, up}, [][]float32{dg, du}, func(in [][]float64) (sum float64) {
				for i, g := range in[0] {
					sum += act(g) * in[1][i] * float64(dy[i])
				}
				return sum
			})
		}
		gates(SwiGLUBack, func(g float64) float64 { return g / (1 + math.Exp(-g)) }, "SwiGLU")
		gates(GeGLUBack, func(g float64) float64 {
			return g / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(g+0.044715*g*g*g)))
		}, "GeGLU")
	}
}

func TestLogProbBackAgainstDifferences(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 1))
	logits := randomFloats(r, 2100)
	targets, g := []int32{7, -1, 2099, 7}, []float32{0.5, 9, -1.25, 2}
	got := clone(logits)
	LogProbBack(got, LogSumExp(logits), targets, g)
	slopes(t, "log probability", [][]float32{logits}, [][]float32{got[:40]}, func(in [][]float64) float64 {
		sum, out := 0.0, 0.0
		for _, v := range in[0] {
			sum += math.Exp(v)
		}
		for i, k := range targets {
			if k >= 0 {
				out += float64(g[i]) * (in[0][k] - math.Log(sum))
			}
		}
		return out
	})
}

// TestUndoIsTheTranspose: <Apply x, y> = <x, Undo y>, and Undo brings x back.
func TestUndoIsTheTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 1))
	table := NewRope(16, 10000, 8)
	for pos := range 50 {
		x, y := randomFloats(r, 48), randomFloats(r, 48)
		ax, by := clone(x), clone(y)
		table.Apply(ax, 3, pos)
		table.Undo(by, 3, pos)
		if a, b := float64(dot(ax, y)), float64(dot(x, by)); math.Abs(a-b) > 1e-3 {
			t.Fatalf("position %d: %g and %g", pos, a, b)
		}
		table.Undo(ax, 3, pos)
		for i, v := range ax {
			near(t, "value", i, v, float64(x[i]), 1e-5, 1e-5)
		}
	}
}
