package kernel

import "fmt"

// Outer is the gradient of a trainable matrix, a sum of outer products over n rows:
// Dst[r, m] += Scale * P^T Q for P[n, r] and Q[n, m]; with Flip Dst is [m, r].
//
// Order: for every outerDepth rows, Dst = fma(Scale, product, Dst), the product as with
// float activations, k the row.
type Outer struct {
	Dst, P, Q []float32
	N, R, M   int
	Scale     float32
	Flip      bool
}

const (
	outerDepth   = 256
	outerColumns = 128 // of Q in a task
)

// OuterAll computes sums that do not depend on each other in one dispatch; r is small.
func OuterAll(p *Pool, outers ...Outer) {
	type task struct{ item, c0, c1 int }
	var tasks []task
	for i := range outers {
		o := &outers[i]
		o.check()
		for c := 0; c < o.M; c += outerColumns {
			tasks = append(tasks, task{i, c, min(c+outerColumns, o.M)})
		}
	}
	p.Run(len(tasks), func(worker, at int) {
		t := tasks[at]
		outers[t.item].run(&p.workers[worker].buf.outer, t.c0, t.c1)
	})
}

func (o *Outer) check() {
	if o.N < 0 || o.R <= 0 || o.M <= 0 || len(o.P) < o.N*o.R || len(o.Q) < o.N*o.M || len(o.Dst) < o.R*o.M {
		panic(fmt.Sprintf("kernel: outer products of %d values [%d, %d] and %d values [%d, %d] into %d", len(o.P), o.N, o.R, len(o.Q), o.N, o.M, len(o.Dst)))
	}
}

// outerScratch is one worker's P^T [r][outerDepth], tile of Q [outerDepth][16] and tile of
// the result [r][16].
type outerScratch struct{ p, q, out []float32 }

func (o *Outer) run(s *outerScratch, c0, c1 int) {
	s.p, s.q, s.out = grow(s.p, o.R*outerDepth), grow(s.q, outerDepth*tileRows), grow(s.out, o.R*tileRows)
	for i := 0; i < o.N; i += outerDepth {
		n := min(outerDepth, o.N-i)
		transpose(s.p, outerDepth, o.P[i*o.R:], o.R, n, o.R)
		for c := c0; c < c1; c += tileRows {
			width := min(tileRows, c1-c)
			for r := range n {
				copy(s.q[r*tileRows:][:tileRows], o.Q[(i+r)*o.M+c:][:width])
			}
			o.tile(s, c, width, n)
		}
	}
}

// tile adds to columns [c, c+width) what n rows give.
func (o *Outer) tile(s *outerScratch, c, width, n int) {
	at, step := o.M, 1
	if o.Flip {
		at, step = 1, o.R
	}
	if step == 1 && width == tileRows {
		gemmF32(o.Dst[c:], o.M, s.q, tileRows, s.p, outerDepth, n, o.R, &o.Scale)
		return
	}
	dst := o.Dst[c*step:]
	for r := range o.R {
		for j := range width {
			s.out[r*tileRows+j] = dst[r*at+j*step]
		}
	}
	gemmF32(s.out, tileRows, s.q, tileRows, s.p, outerDepth, n, o.R, &o.Scale)
	for r := range o.R {
		for j := range width {
			dst[r*at+j*step] = s.out[r*tileRows+j]
		}
	}
}

// transposeRef writes rows x columns of src, src[i*lds + j], to dst[j*ldd + i].
func transposeRef(dst []float32, ldd int, src []float32, lds, rows, columns int) {
	for i := range rows {
		for j, v := range src[i*lds:][:columns] {
			dst[j*ldd+i] = v
		}
	}
}
