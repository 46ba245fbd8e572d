package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestMatMulBackAgainstFloat64 bounds the error of every format and edge shape, of terms
// that add up and of parts of a matrix, by the rounding of a float32 sum.
func TestMatMulBackAgainstFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	p := NewPool(2)
	defer p.Close()
	for _, f := range formats {
		for _, shape := range [][3]int{{1, 1, 1}, {16, 64, 2}, {300, 96, 3}, {700, 32, 130}, {40, 23, 5}} {
			rows, k, n := shape[0], whole(f, shape[1]), shape[2]
			w, other := randomMatrix(t, r, f, rows, k), randomMatrix(t, r, BF16, 19, k)
			lo := rows / 2 &^ 15
			y, z := randomFloats(r, n*rows), randomFloats(r, n*19)
			got := randomFloats(r, n*k)
			old := clone(got)
			MatMulBack(p, Back{Dst: got, N: n, Add: true, Terms: []Term{{W: w, Y: y[lo:], Stride: rows, Lo: lo, Hi: rows, Scale: 0.5}, {W: other, Y: z}}})
			for i := range n {
				sum, size := make([]float64, k), make([]float64, k)
				backOracle(sum, size, w, lo, y[i*rows:][:rows], 0.5)
				backOracle(sum, size, other, 0, z[i*19:][:19], 1)
				for c, s := range sum {
					want := s + float64(old[i*k+c])
					if bound := (size[c] + math.Abs(want)) * float64(rows+20) * 0x1p-24; !(math.Abs(float64(got[i*k+c])-want) <= bound+1e-30) {
						t.Fatalf("%v %v row %d column %d: %g, want %g ± %g", f, shape, i, c, got[i*k+c], want, bound)
					}
				}
			}
		}
	}
}

// backOracle adds scale * y W for rows of W from lo on.
func backOracle(sum, size []float64, w *Matrix, lo int, y []float32, scale float64) {
	row := make([]float32, w.k)
	for r := lo; r < w.rows; r++ {
		w.Row(r, row)
		for c, v := range row {
			p := float64(v) * float64(y[r]) * scale
			sum[c], size[c] = sum[c]+p, size[c]+math.Abs(p)
		}
	}
}

func TestOuterAgainstFloat64(t *testing.T) {
	pools := []*Pool{NewPool(1), NewPool(2), NewPool(3)}
	for _, p := range pools {
		defer p.Close()
	}
	rapid.Check(t, func(t *rapid.T) {
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		n, r, m := rnd.IntN(400), 1+rnd.IntN(20), 1+rnd.IntN(150)
		ps, qs, old := randomFloats(rnd, n*r), randomFloats(rnd, n*m), randomFloats(rnd, r*m)
		plain, flip := clone(old), make([]float32, r*m)
		transpose(flip, r, old, m, r, m)
		o := Outer{P: ps, Q: qs, N: n, R: r, M: m, Scale: 0.25}
		a, b := o, o
		a.Dst, b.Dst, b.Flip = plain, flip, true
		OuterAll(pools[rnd.IntN(3)], a, b)
		for i := range r {
			for j := range m {
				want, size := float64(old[i*m+j]), math.Abs(float64(old[i*m+j]))
				for c := range n {
					v := 0.25 * float64(ps[c*r+i]) * float64(qs[c*m+j])
					want, size = want+v, size+math.Abs(v)
				}
				got := plain[i*m+j]
				if bound := size * float64(n+2) * 0x1p-24; !(math.Abs(float64(got)-want) <= bound) {
					t.Fatalf("[%d, %d, %d] at %d, %d: %g, want %g ± %g", n, r, m, i, j, got, want, bound)
				}
				sameBits(t, "flipped", flip[j*r+i:][:1], plain[i*m+j:][:1])
			}
		}
	})
}
