package kernel

import (
	"fmt"
	"runtime"
	"sync/atomic"
)

// LowRank is what one adapter adds to rows [Lo, Hi) of a product:
// Dst = fma(Scale, (X A^T) B^T, Dst).
type LowRank struct {
	A, B   *Matrix // [rank, K], [rows of W, rank]
	Lo, Hi int
	Scale  float32
	Mid    []float32 // [Hi-Lo, rank], where X A^T goes
}

// lowJob is the first halves X A^T of all adapters of a dispatch. They are few, small
// and needed first, so every worker begins with claiming some of their units; whoever has
// computed a stretch of the product itself waits until all of them are there, which they
// are by then, and adds the second halves while the stretch is in its cache.
type lowJob struct {
	items []item
	units int
	_     [cacheLine]byte
	next  atomic.Int32
	_     [cacheLine]byte
	left  atomic.Int32
	_     [cacheLine]byte
}

func (j *lowJob) begin() { j.items, j.units = j.items[:0], 0 }

func (j *lowJob) open() {
	j.next.Store(0)
	j.left.Store(int32(j.units))
}

// add takes the first halves of a product.
func (j *lowJob) add(pr *Product) {
	for i := range pr.Low {
		l := &pr.Low[i]
		if l.Lo < 0 || l.Hi > pr.X.n || l.B.rows != pr.W.rows || l.B.k != l.A.rows || pr.Add {
			panic(fmt.Sprintf("kernel: an adapter of [%d, %d] and [%d, %d] on rows %d to %d of a product [%d, %d]", l.A.rows, l.A.k, l.B.rows, l.B.k, l.Lo, l.Hi, pr.X.n, pr.W.rows))
		}
		if l.Lo < l.Hi {
			it := newItem(Product{Dst: l.Mid, W: l.A, X: pr.X.Slice(l.Lo, l.Hi)}, j.units)
			j.items = append(j.items, it)
			j.units += it.units
		}
	}
}

// run computes units until none is left, and reports them together.
func (j *lowJob) run(buf *scratch) {
	done := 0
	for j.next.Load() < int32(j.units) {
		u := int(j.next.Add(1)) - 1
		if u >= j.units {
			break
		}
		for i := range j.items {
			j.items[i].each(buf, u, u+1, (*item).tiles)
		}
		done++
	}
	if done > 0 {
		j.left.Add(-int32(done))
	}
}

// wait returns when all units are done; those that are not are being computed.
func (j *lowJob) wait() {
	for i := 1; j.left.Load() > 0; i++ {
		pause()
		if i%polls == 0 {
			runtime.Gosched()
		}
	}
}

// fetchLow asks for what addLow will read, if there are few columns to share it.
func (it *item) fetchLow(_ *scratch, t0, t1, c0, c1 int) {
	if c1-c0 > fetchColumns || it.picks != nil {
		return
	}
	for i := range it.Low {
		if l := &it.Low[i]; max(l.Lo, c0) < min(l.Hi, c1) {
			fetch(l.B.data[t0*l.B.tileBytes() : t1*l.B.tileBytes()])
		}
	}
}

// fetchColumns is up to how many columns a product waits for memory rather than for
// arithmetic.
const fetchColumns = 16

// addLow adds the second halves to units [t0, t1) of columns [c0, c1), adapter by
// adapter in the order given.
func (it *item) addLow(buf *scratch, t0, t1, c0, c1 int) {
	for i := range it.Low {
		l := &it.Low[i]
		from, end := max(l.Lo, c0)-l.Lo, min(l.Hi, c1)-l.Lo
		if from >= end {
			continue
		}
		x := Acts{x: l.Mid, n: l.Hi - l.Lo, k: l.B.k, mode: Float32}
		half := item{Product: Product{Dst: it.Dst[l.Lo*it.Stride:], Stride: it.Stride, W: l.B, X: x, Add: true, Scale: l.Scale, picks: it.picks}}
		half.tiles(buf, t0, t1, from, end)
	}
}
