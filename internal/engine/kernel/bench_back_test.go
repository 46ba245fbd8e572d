package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkMatMulBack(b *testing.B) {
	for _, c := range []struct {
		f       Format
		rows, k int
	}{{Q4_1, 1536, 576}, {Q4_1, 576, 1536}, {Q8_0, 4096, 576}, {Q6_K, 640, 2048}, {F32, 16, 576}, {F32, 576, 16}} {
		for _, n := range []int{64, 256, 1024} {
			b.Run(fmt.Sprintf("%v-%dx%d,n=%d", c.f, c.rows, c.k, n), func(b *testing.B) {
				ladder(b, func(b *testing.B, p *Pool) {
					r := rand.New(rand.NewPCG(1, 1))
					w := randomMatrix(b, r, c.f, c.rows, c.k)
					y, dst := randomFloats(r, n*c.rows), make([]float32, n*c.k)
					timed(b, n*c.rows*c.k, 0, func() { MatMulBack(p, Back{Dst: dst, N: n, Terms: []Term{{W: w, Y: y}}}) })
				})
			})
		}
	}
}

func BenchmarkOuter(b *testing.B) {
	for _, c := range [][3]int{{1024, 16, 576}, {1024, 16, 1536}, {50, 16, 576}} {
		for _, flip := range []bool{false, true} {
			b.Run(fmt.Sprintf("n=%d,r=%d,m=%d,flip=%v", c[0], c[1], c[2], flip), func(b *testing.B) {
				ladder(b, func(b *testing.B, p *Pool) {
					r := rand.New(rand.NewPCG(1, 1))
					o := Outer{Dst: make([]float32, c[1]*c[2]), P: randomFloats(r, c[0]*c[1]), Q: randomFloats(r, c[0]*c[2]), N: c[0], R: c[1], M: c[2], Scale: 1, Flip: flip}
					timed(b, c[0]*c[1]*c[2], 0, func() { OuterAll(p, o) })
				})
			})
		}
	}
}

func BenchmarkAttendBack(b *testing.B) {
	for _, c := range [][2]int{{0, 256}, {200, 50}, {4096, 64}} {
		b.Run(fmt.Sprintf("pos=%d,n=%d", c[0], c[1]), func(b *testing.B) {
			ladder(b, func(b *testing.B, p *Pool) {
				r := rand.New(rand.NewPCG(1, 1))
				a := newAttendCase(r, p, 9, 3, 64, c[0], c[1], 0)
				g := AttnGrad{AttnSeq: a.seq(), DK: make([]float32, len(a.c.k)), DV: make([]float32, len(a.c.k))}
				dq := make([]float32, len(a.q))
				timed(b, 5*9*64*c[1]*(c[0]+c[1]/2), 0, func() {
					AttendBack(p, dq, a.q, a.att, a.dAtt, 9, 3, 64, caseScale, []AttnGrad{g})
				})
			})
		})
	}
}
