package kernel

import "fmt"

// Span is the rows of one text, from Lo up to Hi.
type Span struct{ Lo, Hi int }

// AttendAll computes attention in which each row of a span sees all rows of its span:
// dst = softmax(scale * q K^T) V for q, k, v and dst [rows, heads, dim], dim a multiple of
// 16. Spans do not overlap; a span's bits do not depend on the others. Rows outside the
// spans are left alone.
//
// Order: scores and sums as float products (gemm_ref.go), the softmax as
// SoftmaxInPlace.
func AttendAll(p *Pool, dst, q, k, v []float32, heads, dim int, scale float32, spans []Span) {
	width := heads * dim
	if heads <= 0 || dim <= 0 || dim%tileRows != 0 || len(dst) != len(q) || len(k) != len(q) || len(v) != len(q) || len(q)%width != 0 {
		panic(fmt.Sprintf("kernel: attention with %d heads of %d values over %d, %d and %d", heads, dim, len(q), len(k), len(v)))
	}
	for _, s := range spans {
		if s.Lo < 0 || s.Hi < s.Lo || s.Hi*width > len(q) {
			panic(fmt.Sprintf("kernel: rows %d to %d of %d", s.Lo, s.Hi, len(q)/width))
		}
	}
	p.Run(len(spans)*heads, func(worker, task int) {
		s, at := spans[task/heads], task%heads*dim
		if n := s.Hi - s.Lo; n > 0 {
			lo := s.Lo*width + at
			attendSpan(&p.workers[worker].buf.span, dst[lo:], q[lo:], k[lo:], v[lo:], n, width, dim, scale)
		}
	})
}

// attendSpan is one head of one span; rows lie width values apart.
func attendSpan(buf *[]float32, dst, q, k, v []float32, n, width, dim int, scale float32) {
	padded := (n + tileRows - 1) / tileRows * tileRows
	if need := padded * (dim + n); cap(*buf) < need {
		*buf = make([]float32, need)
	}
	keys, scores := (*buf)[:padded*dim], (*buf)[padded*dim:padded*(dim+n)]
	for d := range dim { // keys side by side in the lanes; what is beyond n is not used
		column := keys[d*padded:][:padded]
		clear(column[n:])
		for i := range n {
			column[i] = k[i*width+d]
		}
	}
	for t := 0; t < padded; t += tileRows {
		gemmF32(scores[t:], padded, keys[t:], padded, q, width, dim, n, nil)
	}
	for i := range n {
		row := scores[i*padded:][:n]
		scaleBy(row, scale)
		SoftmaxInPlace(row)
	}
	for t := 0; t < dim; t += tileRows {
		gemmF32(dst[t:], width, v[t:], width, scores, padded, n, n, nil)
	}
}
