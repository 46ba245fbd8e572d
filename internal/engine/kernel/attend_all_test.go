package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestAttendAllAgainstFloat64(t *testing.T) {
	const heads, dim = 3, 32
	const width = heads * dim
	spans := []Span{{0, 1}, {1, 18}, {20, 53}, {53, 53}}
	r := rand.New(rand.NewPCG(41, 1))
	q, k, v := randomFloats(r, 53*width), randomFloats(r, 53*width), randomFloats(r, 53*width)
	p := NewPool(2)
	defer p.Close()
	got := make([]float32, len(q))
	AttendAll(p, got, q, k, v, heads, dim, 0.3, spans)
	for _, s := range spans {
		for i := s.Lo; i < s.Hi; i++ {
			for h := range heads {
				for d, want := range attendExactly(q, k, v, s, i, h*dim, width, dim) {
					near(t, "attention", i, got[i*width+h*dim+d], want, 1e-5, 1e-5)
				}
			}
		}
	}
	for i, f := range got[18*width : 20*width] {
		if f != 0 {
			t.Fatalf("value %d outside the spans is %g", i, f)
		}
	}
	eachISA(func() {
		for _, s := range spans { // alone, on one thread
			one, alone := NewPool(1), make([]float32, len(q))
			AttendAll(one, alone, q, k, v, heads, dim, 0.3, []Span{s})
			one.Close()
			sameBits(t, "a span alone with "+ISA(), alone[s.Lo*width:s.Hi*width], got[s.Lo*width:s.Hi*width])
		}
	})
}

// attendExactly is one row of one head in double precision.
func attendExactly(q, k, v []float32, s Span, row, at, width, dim int) []float64 {
	out, sum := make([]float64, dim), 0.0
	for j := s.Lo; j < s.Hi; j++ {
		score := 0.0
		for d := range dim {
			score += float64(q[row*width+at+d]) * float64(k[j*width+at+d])
		}
		e := math.Exp(score * 0.3)
		sum += e
		for d := range out {
			out[d] += e * float64(v[j*width+at+d])
		}
	}
	for d := range out {
		out[d] /= sum
	}
	return out
}
