package encoder

import (
	"math"

	"macaron/internal/engine/kernel"
)

// buffers is the working memory of a batch; it grows to the largest and stays.
type buffers struct {
	x, h, q, k, v []float32 // [n, d]
	wide          []float32 // [n, f]
	tokens        []int32   // [n]
	places        []int32   // [n], within the text
	spans         []kernel.Span
	acts          kernel.Acts
}

// batch computes the embeddings of a few texts of n tokens together.
func (e *Encoder) batch(lists [][]int32, n int) [][]float32 {
	b := &e.buf
	b.lay(lists, n, e.d, e.f)
	e.embed()
	for i := range e.layers {
		l := &e.layers[i]
		e.linear(b.q, b.x, l.q)
		e.linear(b.k, b.x, l.k)
		e.linear(b.v, b.x, l.v)
		kernel.AttendAll(e.pool, b.h, b.q, b.k, b.v, e.h, e.c, float32(1/math.Sqrt(float64(e.c))), b.spans)
		e.linear(b.q, b.h, l.o)
		e.residual(b.q, l.attnNorm) // x = norm(x + o(att))
		e.linear(b.wide, b.x, l.up)
		e.perRow(func(r int) { kernel.GELU(b.wide[r*e.f:][:e.f]) })
		e.linear(b.q, b.wide, l.down)
		e.residual(b.q, l.ffnNorm)
	}
	out := make([][]float32, len(lists))
	for i, s := range b.spans {
		out[i] = e.pooled(b.x[s.Lo*e.d : s.Hi*e.d])
	}
	return out
}

// lay spreads the texts over rows.
func (b *buffers) lay(lists [][]int32, n, d, f int) {
	b.tokens, b.places, b.spans = b.tokens[:0], b.places[:0], b.spans[:0]
	for _, list := range lists {
		lo := len(b.tokens)
		b.tokens = append(b.tokens, list...)
		for i := range list {
			b.places = append(b.places, int32(i))
		}
		b.spans = append(b.spans, kernel.Span{Lo: lo, Hi: len(b.tokens)})
	}
	for _, buf := range []*[]float32{&b.x, &b.h, &b.q, &b.k, &b.v} {
		*buf = sized(*buf, n*d)
	}
	b.wide = sized(b.wide, n*f)
}

func sized(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}

// perRow runs f on every row.
func (e *Encoder) perRow(f func(row int)) {
	e.pool.Run(len(e.buf.tokens), func(_, row int) { f(row) })
}

// embed fills x with norm(word + position + kind 0).
func (e *Encoder) embed() {
	b, d := &e.buf, e.d
	e.perRow(func(r int) {
		x := b.x[r*d:][:d]
		copy(x, e.words.values[int(b.tokens[r])*d:])
		kernel.Add(x, e.kind.values[:d])
		kernel.Add(x, e.positions.values[int(b.places[r])*d:][:d])
		kernel.LayerNorm(x, x, e.embedNorm.weight, e.embedNorm.bias, e.eps)
	})
}

// linear computes dst = x W^T + bias.
func (e *Encoder) linear(dst, x []float32, l linear) {
	e.buf.acts.Set(e.pool, x, len(e.buf.tokens), l.w.K(), kernel.Float32)
	kernel.MatMul(e.pool, dst, l.w, &e.buf.acts)
	rows := l.w.Rows()
	e.perRow(func(r int) { kernel.Add(dst[r*rows:][:rows], l.bias) })
}

// residual computes x = norm(x + y).
func (e *Encoder) residual(y []float32, n norm) {
	b, d := &e.buf, e.d
	e.perRow(func(r int) {
		x := b.x[r*d:][:d]
		kernel.Add(x, y[r*d:][:d])
		kernel.LayerNorm(x, x, n.weight, n.bias, e.eps)
	})
}

// pooled turns the states [tokens, d] of a text into its embedding. Sums are in double
// precision, in the order of rows and of values.
func (e *Encoder) pooled(x []float32) []float32 {
	rows := len(x) / e.d
	if e.first {
		rows = 1
	}
	mean := make([]float64, e.d)
	for r := range rows {
		for i, f := range x[r*e.d:][:e.d] {
			mean[i] += float64(f)
		}
	}
	squares := 0.0
	for i := range mean {
		mean[i] /= float64(rows)
		squares += float64(mean[i] * mean[i])
	}
	scale := 1.0
	if e.normalise {
		scale = 1 / max(math.Sqrt(squares), 1e-12)
	}
	out := make([]float32, e.d)
	for i, f := range mean {
		out[i] = float32(f * scale)
	}
	return out
}
