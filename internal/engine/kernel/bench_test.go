package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// The ladder: each kernel with the references, then with the vector kernels, one
// thread and two. GMAC/s counts multiply-adds; GB/s counts packed weight bytes.

// ladder runs f under each rung that this machine has.
func ladder(b *testing.B, f func(b *testing.B, p *Pool)) {
	eachISA(func() {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s,threads=%d", ISA(), threads), func(b *testing.B) {
				p := NewPool(threads)
				defer p.Close()
				f(b, p)
			})
		}
	})
}

// timed runs f over and over. The mean suffers from whatever else the machine does,
// so the best single call is reported beside it.
func timed(b *testing.B, macs, bytes int, f func()) {
	best := time.Duration(1 << 62)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	b.ReportMetric(float64(macs)/b.Elapsed().Seconds()*float64(b.N)/1e9, "GMAC/s")
	b.ReportMetric(float64(macs)/best.Seconds()/1e9, "best-GMAC/s")
	if bytes > 0 {
		b.ReportMetric(float64(bytes)/best.Seconds()/1e9, "best-GB/s")
	}
}

func BenchmarkMatMul(b *testing.B) {
	for _, c := range []struct {
		f       Format
		rows, k int
	}{{Q4_1, 576, 576}, {Q4_1, 1536, 576}, {Q4_1, 576, 1536}, {Q8_0, 49152, 576}, {F16, 16, 576}, {F16, 576, 16},
		{Q4_0, 640, 2048}, {Q4_1, 640, 2048}, {Q5_0, 640, 2048}, {Q5_1, 640, 2048}, {Q8_0, 640, 2048},
		{Q4_K, 640, 2048}, {Q5_K, 640, 2048}, {Q6_K, 640, 2048}, {BF16, 640, 2048}, {F16, 640, 2048}, {Q5_0, 2048, 640}} {
		for _, n := range []int{1, 2, 4, 8, 12, 16, 64, 512} {
			if c.rows > 2000 && n > 8 {
				continue
			}
			b.Run(fmt.Sprintf("%v-%dx%d,n=%d", c.f, c.rows, c.k, n), func(b *testing.B) {
				ladder(b, func(b *testing.B, p *Pool) {
					r := rand.New(rand.NewPCG(1, 1))
					w := randomMatrix(b, r, c.f, c.rows, c.k)
					x, dst := randomFloats(r, n*c.k), make([]float32, n*c.rows)
					var a Acts
					a.Set(p, x, n, c.k, Int8)
					timed(b, n*c.rows*c.k, w.Bytes(), func() { MatMul(p, dst, w, &a) })
				})
			})
		}
	}
}

// modelShape is the matrices of a small llama model: 30 layers of width 576 and an
// output matrix, 96 MB together.
type modelShape struct {
	layers [30][7]*Matrix // q k v, o, gate up, down
	head   *Matrix
}

func newModelShape(b *testing.B) *modelShape {
	r := rand.New(rand.NewPCG(2, 2))
	m := &modelShape{head: randomMatrix(b, r, Q8_0, 49152, 576)}
	for i := range m.layers {
		for j, s := range [7][2]int{{576, 576}, {192, 576}, {192, 576}, {576, 576}, {1536, 576}, {1536, 576}, {576, 1536}} {
			m.layers[i][j] = randomMatrix(b, r, Q4_1, s[0], s[1])
		}
	}
	return m
}

// BenchmarkModel is all products of one step over n rows, the output matrix for one
// row, with the activations quantised where a model would.
func BenchmarkModel(b *testing.B) {
	m := newModelShape(b)
	for _, n := range []int{1, 8, 64, 512} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			ladder(b, func(b *testing.B, p *Pool) {
				r := rand.New(rand.NewPCG(1, 1))
				x := randomFloats(r, n*1536)
				out := [][]float32{make([]float32, n*1536), make([]float32, n*1536), make([]float32, n*1536)}
				logits := make([]float32, 49152)
				var a Acts
				timed(b, n*30*3538944+49152*576, 0, func() {
					for i := range m.layers {
						l := m.layers[i][:]
						a.Set(p, x, n, 576, Int8)
						MatMulMany(p, out, l[0:3], &a)
						a.Set(p, x, n, 576, Int8)
						MatMul(p, out[0], l[3], &a)
						a.Set(p, x, n, 576, Int8)
						MatMulMany(p, out[:2], l[4:6], &a)
						a.Set(p, x, n, 1536, Int8)
						MatMul(p, out[0], l[6], &a)
					}
					a.Set(p, x, 1, 576, Int8)
					MatMul(p, logits, m.head, &a)
				})
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "tok/s")
			})
		})
	}
}

func BenchmarkAttend(b *testing.B) {
	for _, c := range [][2]int{{127, 1}, {511, 1}, {2047, 1}, {0, 512}, {1024, 512}} {
		pos0, n := c[0], c[1]
		b.Run(fmt.Sprintf("pos=%d,n=%d", pos0, n), func(b *testing.B) {
			ladder(b, func(b *testing.B, p *Pool) {
				const heads, kvHeads, dim = 9, 3, 64
				r := rand.New(rand.NewPCG(1, 1))
				kv := randomCache(r, pos0+n, kvHeads, dim)
				q := randomFloats(r, n*heads*dim)
				dst := make([]float32, len(q))
				seqs := []AttnSeq{{Pages: kv.pages, Pos0: pos0, N: n}}
				timed(b, n*(2*pos0+n+1)/2*heads*dim*2, 0, func() {
					Attend(p, dst, q, heads, kvHeads, dim, 0.125, seqs)
				})
			})
		})
	}
}

func BenchmarkVector(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	x, y, z := randomFloats(r, 1536), randomFloats(r, 1536), randomFloats(r, 1536)
	logits := randomFloats(r, 49152)
	rope := NewRope(64, 10000, 64)
	p := NewPool(1)
	defer p.Close()
	var a Acts
	pg := NewPages(1, 3, 64)[0]
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"RMSNorm-576", func() { RMSNorm(y[:576], x[:576], z[:576], 1e-5) }},
		{"SwiGLU-1536", func() { SwiGLU(y, x, z) }},
		{"Add-576", func() { Add(y[:576], x[:576]) }},
		{"Rope-9x64", func() { rope.Apply(y[:576], 9, 33) }},
		{"Put-3x64", func() { pg.Put(7, x, z, 3, 64) }},
		{"Set-1x576", func() { a.Set(p, x, 1, 576, Int8) }},
		{"ArgMax-49152", func() { ArgMax(logits) }},
		{"LogSumExp-49152", func() { LogSumExp(logits) }},
	} {
		eachISA(func() {
			b.Run(c.name+"/"+ISA(), func(b *testing.B) { timed(b, 0, 0, c.f) })
		})
	}
}

// BenchmarkDispatch is the cost of an empty Run.
func BenchmarkDispatch(b *testing.B) {
	ladder(b, func(b *testing.B, p *Pool) {
		f := func(_, _ int) {}
		for b.Loop() {
			p.Run(4, f)
		}
	})
}
