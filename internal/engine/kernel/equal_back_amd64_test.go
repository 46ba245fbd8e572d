package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestMatMulBackIsInvariant: rows alone, a matrix in parts, other numbers of threads and
// the references give the same bits.
func TestMatMulBackIsInvariant(t *testing.T) {
	pools := []*Pool{NewPool(1), NewPool(2), NewPool(3)}
	for _, p := range pools {
		defer p.Close()
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		rows, k, n := 1+r.IntN(600), 32*(1+r.IntN(3)), 1+r.IntN(12)
		if r.IntN(4) == 0 {
			k = 256
		}
		f := fitting(r, k)
		w, err := Pack(f, rows, k, randomRaw(r, f, rows, k))
		if err != nil {
			t.Fatal(err)
		}
		y := extreme(t, n*rows, "y")
		want := make([]float32, n*k)
		for i := range n {
			MatMulBack(pools[0], Back{Dst: want[i*k:], N: 1, Terms: []Term{{W: w, Y: y[i*rows:][:rows]}}})
		}
		p := pools[r.IntN(3)]
		both(t, "MatMulBack", func() []float32 {
			got := make([]float32, n*k)
			MatMulBack(p, Back{Dst: got, N: n, Terms: []Term{{W: w, Y: y}}})
			sameBits(t, fmt.Sprintf("%v, %d rows", f, n), got, want)
			parts := make([]float32, n*k)
			for lo := 0; lo < rows; lo += backDepth {
				MatMulBack(p, Back{Dst: parts, N: n, Add: true, Terms: []Term{{W: w, Y: y[lo:], Stride: rows, Lo: lo, Hi: min(lo+backDepth, rows)}}})
			}
			sameBits(t, "in parts", parts, want)
			return got
		})
	})
}

// TestAttendBackIsInvariant: threads, instruction sets and the other sequences of a call
// change no bit; sequences that share a prefix add up in their order.
func TestAttendBackIsInvariant(t *testing.T) {
	pools := []*Pool{NewPool(1), NewPool(2), NewPool(3)}
	for _, p := range pools {
		defer p.Close()
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		pos0, n := r.IntN(140), 1+r.IntN(80)
		window := rapid.SampledFrom([]int{0, 0, 1, 40, 64, 65, 130}).Draw(t, "window")
		a := newAttendCase(r, pools[0], 4, 2, 16, pos0, n, window)
		if r.IntN(3) == 0 {
			a.q = extreme(t, len(a.q), "q")
		}
		want := a.back(pools[0], 0, nil)
		both(t, "AttendBack", func() []float32 {
			got := a.back(pools[r.IntN(3)], 0, nil)
			sameBits(t, "threads", got, want)
			return got
		})
		width := a.kvHeads * a.dim
		dk, dv, sum := make([]float32, (pos0+n)*width), make([]float32, (pos0+n)*width), clone(want[len(a.q):])
		twice := clone(a.dAtt)
		g := AttnGrad{AttnSeq: a.seq(), DK: dk, DV: dv}
		AttendBack(pools[1], twice, a.q, a.att, twice, 4, 2, 16, caseScale, []AttnGrad{g})
		sameBits(t, "in place", twice, want[:len(a.q)])
		sameBits(t, "in place", append(clone(dk), dv...), sum)
	})
}

func TestBackwardOfVectorsEqualsReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 700).Draw(t, "n")
		x, y, z := extreme(t, n, "x"), extreme(t, n, "y"), extreme(t, n, "z")
		both(t, "RMSNormBack", func() []float32 { d := clone(x); RMSNormBack(d, d, y, z, 1e-5); return d })
		both(t, "SwiGLUBack", func() []float32 { g, u := clone(y), clone(z); SwiGLUBack(g, u, x, g, u); return append(g, u...) })
		both(t, "GeGLUBack", func() []float32 { g, u := clone(y), clone(z); GeGLUBack(g, u, x, g, u); return append(g, u...) })
		both(t, "LogProbBack", func() []float32 { d := clone(x); LogProbBack(d, y[0], []int32{0}, []float32{z[0]}); return d })
	})
}

func TestOuterEqualsReference(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	rapid.Check(t, func(t *rapid.T) {
		n, r, m := rapid.IntRange(0, 300).Draw(t, "n"), rapid.IntRange(1, 20).Draw(t, "r"), rapid.IntRange(1, 50).Draw(t, "m")
		o := Outer{P: extreme(t, n*r, "P"), Q: extreme(t, n*m, "Q"), N: n, R: r, M: m, Scale: 0.3, Flip: rapid.Bool().Draw(t, "flip")}
		old := extreme(t, r*m, "old")
		both(t, "Outer", func() []float32 { o.Dst = clone(old); OuterAll(p, o); return o.Dst })
	})
}

func TestTransposeEqualsReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, columns, pad := rapid.IntRange(0, 70).Draw(t, "rows"), rapid.IntRange(0, 70).Draw(t, "columns"), rapid.IntRange(0, 3).Draw(t, "pad")
		src := extreme(t, rows*(columns+pad)+1, "src")
		both(t, "transpose", func() []float32 {
			dst := make([]float32, columns*(rows+pad))
			transpose(dst, rows+pad, src, columns+pad, rows, columns)
			return dst
		})
	})
}

// TestStripesHoldRows: whatever part of a matrix is read for a product over rows, it is
// what Row gives, in whole tiles and others, with each set of kernels.
func TestStripesHoldRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(formats).Draw(t, "format")
		rows, k := rapid.IntRange(1, 70).Draw(t, "rows"), whole(f, rapid.IntRange(1, 9).Draw(t, "blocks")*qBlock)
		unit := max(f.BlockLen(), tileRows)
		if f.BlockLen() == 1 {
			k = rapid.IntRange(1, 90).Draw(t, "k")
		}
		w, err := Pack(f, rows, k, wildRaw(t, f, rows, k))
		if err != nil {
			t.Fatal(err)
		}
		r0 := rapid.IntRange(0, (rows-1)/tileRows).Draw(t, "from") * tileRows
		r1 := rapid.IntRange(r0+1, rows).Draw(t, "to")
		c0 := rapid.IntRange(0, (k-1)/unit).Draw(t, "first") * unit
		c1 := min(k, rapid.IntRange(c0/unit+1, (k+unit-1)/unit).Draw(t, "end")*unit)
		depth, tiles := r1-r0, (c1-c0+tileRows-1)/tileRows
		eachISA(func() {
			got, row := make([]float32, tiles*depth*tileRows), make([]float32, k)
			w.unpackStripe(&stripeScratch{}, got, r0, r1, c0, c1)
			for r := r0; r < r1; r++ {
				w.Row(r, row)
				for c := c0; c < c0+tiles*tileRows; c++ {
					want := float32(0)
					if c < c1 {
						want = row[c]
					}
					sameBits(t, fmt.Sprintf("%v row %d column %d with %s", f, r, c, ISA()), got[(c-c0)/tileRows*depth*tileRows+(r-r0)*tileRows+c%tileRows:][:1], []float32{want})
				}
			}
		})
	})
}

func TestSoftBackAndDotEqualReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 8 * rapid.IntRange(1, 9).Draw(t, "n")
		s, dp, top, inv, d := extreme(t, n, "s"), extreme(t, n, "dp"), extreme(t, n, "top"), extreme(t, n, "inv"), extreme(t, n, "d")
		both(t, "softBack", func() []float32 {
			a, b := clone(s), clone(dp)
			softBack(a, b, top, inv, d, 0.125)
			return append(append(a, b...), dot(s, dp), dot(s[3:], dp))
		})
	})
}
