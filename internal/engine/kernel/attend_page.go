package kernel

import "math"

// nothing is the maximum of a column that has seen nothing so far. It is finite, so that
// a page that shows nothing either leaves it as it is; minusInf is the maximum of such a
// page.
const nothing = -math.MaxFloat32

var minusInf = float32(math.Inf(-1))

// partial is what one page contributes to a block of columns: per column the largest
// score, the sum of exp(score - top), and the values weighted by it.
type partial struct {
	top, sum []float32 // padded to a multiple of 8 columns
	values   []float32 // [columns, dim]
	store    []byte    // whole cache lines, which no other worker writes to
}

func (o *partial) begin(columns, dim int) {
	padded := (columns + 7) &^ 7
	if size := 4 * (2*padded + columns*dim); cap(o.store) < size {
		o.store = alignedBytes((size + cacheLine - 1) &^ (cacheLine - 1))
	}
	all := floatsOf(o.store[:cap(o.store)])
	o.top, o.sum = all[:padded:padded], all[padded:2*padded:2*padded]
	o.values = all[2*padded:][:columns*dim]
}

// attendScratch is one worker's state for a block of columns of one key head.
type attendScratch struct {
	q, scores, acc []float32 // [columns, dim], [columns, 64], [columns, dim]
	top, sum       []float32 // per column: running maximum and sum
	keep, gain     []float32 // per column: factors of the old result and of a page's
	part           partial
	wide           []float32 // keys or values of the page, widened
}

func (s *attendScratch) begin(columns, dim int) {
	padded := (columns + 7) &^ 7
	s.q, s.acc = grow(s.q, columns*dim), grow(s.acc, columns*dim)
	s.scores = grow(s.scores, columns*PageTokens)
	s.top, s.sum = grow(s.top, padded), grow(s.sum, padded)
	s.keep, s.gain = grow(s.keep, padded), grow(s.gain, padded)
	s.part.begin(columns, dim)
}

// reset empties the running result.
func (s *attendScratch) reset() {
	clear(s.acc)
	clear(s.sum)
	for i := range s.top {
		s.top[i] = nothing
	}
}

// merge takes a page's contribution to columns [first, last) into the running result.
func (s *attendScratch) merge(o *partial, first, last, dim int) {
	for c := range o.top { // the others see nothing: keep what there is
		if c < first || c >= last {
			o.top[c], o.sum[c] = minusInf, 0
		}
	}
	fold(s.top, s.sum, o.top, o.sum, s.keep, s.gain)
	for c := first; c < last; c++ {
		merge(s.acc[c*dim:][:dim], o.values[c*dim:][:dim], s.keep[c], s.gain[c])
	}
}

// widenFrom is the number of columns from which a page is worth widening to float32
// once instead of in every product.
const widenFrom = 12

// product multiplies tiles of 16 lanes of a page, w[k*ldw + lane], with columns x. For
// few columns memory is what takes time, so next, which follows, is fetched meanwhile.
func (s *attendScratch) product(dst []float32, ldd int, w []uint16, ldw, tiles int, x []float32, ldx, k, cols int, next []uint16) {
	if cols < widenFrom {
		tilesF16(dst, ldd, w, ldw, tileRows, tiles, x, ldx, k, cols, nil, next)
		return
	}
	s.wide = grow(s.wide, len(w))
	floats(s.wide[:k*ldw], w[:k*ldw])
	for t := range tiles {
		gemmF32(dst[t*tileRows:], ldd, s.wide[t*tileRows:], ldw, x, ldx, k, cols, nil)
	}
}

// softChunkRef scales one page's scores, takes the maximum over those in [from, end)
// (at least one), replaces them by exp(score - maximum) and the others by 0, and
// returns the maximum and the sum.
func softChunkRef(s []float32, from, end int, scale float32) (top, sum float32) {
	for i := range s[:end] {
		s[i] *= scale
	}
	top = maxOfRef(s[from:end])
	clear(s[:from])
	clear(s[end:])
	var lanes [8]float32
	for i := from; i < end; i++ {
		s[i] = exp32(s[i] - top)
		lanes[i&7] += s[i]
	}
	return top, fold8(&lanes)
}

// foldRef takes a page's maximum and sum of every column into the running ones, and
// gives the factors by which the old and the new values count. A column that saw
// nothing so far keeps by 0, one that sees nothing of this page keeps by 1 and gains by
// 0: either way the other side counts as it is.
func foldRef(top, sum, pageTop, pageSum, keep, gain []float32) {
	for c, was := range top {
		now := was
		if pageTop[c] > was {
			now = pageTop[c]
		}
		top[c] = now
		keep[c], gain[c] = exp32(was-now), exp32(pageTop[c]-now)
		sum[c] = fma32(sum[c], keep[c], float32(pageSum[c]*gain[c]))
	}
}

// mergeRef is acc = acc*keep + part*gain, fused as fma(acc, keep, part*gain).
func mergeRef(acc, part []float32, keep, gain float32) {
	for i, v := range part {
		acc[i] = fma32(acc[i], keep, float32(v*gain))
	}
}

func scaleRef(x []float32, f float32) {
	for i := range x {
		x[i] *= f
	}
}
