package kernel

import "fmt"

// Term is one matrix that a gradient comes back through: Scale * Y * W[Lo:Hi], where
// column j of Y belongs to row Lo+j of W.
type Term struct {
	W      *Matrix
	Y      []float32 // [n, Hi-Lo], rows Stride apart
	Stride int       // 0: Hi-Lo
	Lo, Hi int       // rows of W, Lo a multiple of 16; both 0: all
	Scale  float32   // 0: 1
}

// Back is a gradient with respect to the input of some matrices that share it: Dst[n, K]
// = sum of the terms, or with Add, Dst += that.
//
// Order: Dst begins as zeros or as what it is; then, term by term, for every backDepth
// rows of W (at multiples of backDepth), Dst = fma(Scale, product, Dst), the product as
// with float activations, k the row of W.
type Back struct {
	Dst   []float32
	N     int
	Add   bool
	Terms []Term
}

// backDepth is how many rows of W are dequantised at a time.
const backDepth = 256

// MatMulBack computes gradients that do not depend on each other in one dispatch. Every
// task dequantises its columns of the matrices once for all rows of Y. The chunks of a
// vocabulary may come in several calls with Add: if they begin at multiples of 256, bits
// are those of one call.
func MatMulBack(p *Pool, backs ...Back) {
	var tasks []backTask
	for i := range backs {
		tasks = backs[i].cut(tasks, p.Threads())
	}
	p.Run(len(tasks), func(worker, task int) { tasks[task].run(&p.workers[worker].buf.back) })
}

// backTask is columns [c0, c1) of rows [i0, i1) of a result.
type backTask struct {
	*Back
	c0, c1, i0, i1 int
}

// backScratch is one worker's dequantised stripe [tiles of 16 columns][backDepth][16].
type backScratch struct {
	panel  []float32
	stripe stripeScratch
	out    [tileRows * floatColumns]float32
}

// cut divides a result among tasks: first by columns, which share no dequantised weight,
// then by rows if there are few columns.
func (b *Back) cut(tasks []backTask, threads int) []backTask {
	k, unit := b.check(), tileRows
	for _, t := range b.Terms {
		unit = max(unit, t.W.format.BlockLen())
	}
	width := max(unit, 64)
	if k < 64*8*threads {
		width = max(unit, 32)
	}
	stripes := (k + width - 1) / width
	rows := b.N
	if stripes < 4*threads {
		parts := (4*threads + stripes - 1) / stripes
		rows = max((b.N+parts-1)/parts+7, 32) &^ 7
	}
	for c := 0; c < k; c += width {
		for i := 0; i < b.N; i += rows {
			tasks = append(tasks, backTask{b, c, min(c+width, k), i, min(i+rows, b.N)})
		}
	}
	return tasks
}

// check fills what a term leaves out, panics if shapes do not fit, and gives K.
func (b *Back) check() int {
	if len(b.Terms) == 0 {
		panic("kernel: a gradient of no matrices")
	}
	k := b.Terms[0].W.k
	for i := range b.Terms {
		t := &b.Terms[i]
		if t.Lo == 0 && t.Hi == 0 {
			t.Hi = t.W.rows
		}
		if t.Stride == 0 {
			t.Stride = t.Hi - t.Lo
		}
		if t.Scale == 0 {
			t.Scale = 1
		}
		rows := t.Hi - t.Lo
		if t.W.k != k || t.Lo < 0 || t.Lo%tileRows != 0 || rows <= 0 || t.Hi > t.W.rows || t.Stride < rows || b.N > 0 && len(t.Y) < (b.N-1)*t.Stride+rows {
			panic(fmt.Sprintf("kernel: gradient of %d values through rows %d to %d of a matrix [%d, %d] from %d values of stride %d", k, t.Lo, t.Hi, t.W.rows, t.W.k, len(t.Y), t.Stride))
		}
	}
	if b.N < 0 || len(b.Dst) < b.N*k {
		panic(fmt.Sprintf("kernel: gradient [%d, %d] into %d values", b.N, k, len(b.Dst)))
	}
	return k
}

func (b *backTask) run(s *backScratch) {
	k, tiles := b.Terms[0].W.k, (b.c1-b.c0+tileRows-1)/tileRows
	if !b.Add {
		for i := b.i0; i < b.i1; i++ {
			clear(b.Dst[i*k+b.c0 : i*k+b.c1])
		}
	}
	s.panel = grow(s.panel, tiles*tileRows*backDepth)
	for i := range b.Terms {
		t := &b.Terms[i]
		for r := t.Lo; r < t.Hi; {
			end := min((r/backDepth+1)*backDepth, t.Hi)
			t.W.unpackStripe(&s.stripe, s.panel, r, end, b.c0, b.c1)
			b.multiply(s, t, r, end)
			r = end
		}
	}
}

// multiply adds what rows [r0, r1) of a term's matrix, unpacked, give.
func (b *backTask) multiply(s *backScratch, t *Term, r0, r1 int) {
	k, depth := t.W.k, r1-r0
	for i := b.i0; i < b.i1; i += floatColumns {
		n, y := min(floatColumns, b.i1-i), t.Y[i*t.Stride+r0-t.Lo:]
		for c := b.c0; c < b.c1; c += tileRows {
			w := s.panel[(c-b.c0)*depth:]
			if dst := b.Dst[i*k+c:]; c+tileRows <= b.c1 {
				gemmF32(dst, k, w, tileRows, y, t.Stride, depth, n, &t.Scale)
			} else {
				edgeF32(s.out[:], dst, k, b.c1-c, w, tileRows, y, t.Stride, depth, n, &t.Scale)
			}
		}
	}
}

// edgeF32 is gemmF32 for a result of less than 16 columns, by way of out[cols, 16].
func edgeF32(out, dst []float32, ldd, width int, w []float32, ldw int, x []float32, ldx, k, cols int, scale *float32) {
	clear(out[:cols*tileRows])
	for c := range cols {
		copy(out[c*tileRows:], dst[c*ldd:][:width])
	}
	gemmF32(out, tileRows, w, ldw, x, ldx, k, cols, scale)
	for c := range cols {
		copy(dst[c*ldd:][:width], out[c*tileRows:])
	}
}

// unpackStripe dequantises rows [r0, r1), columns [c0, c1) of a matrix into
// dst[tile of 16 columns][row][16], the last tile filled up with zeros. c0, and c1 unless
// it is K, are whole blocks; r0 is a whole tile.
func (m *Matrix) unpackStripe(s *stripeScratch, dst []float32, r0, r1, c0, c1 int) {
	step := (r1 - r0) * tileRows
	if tail := (c1 - c0) % tileRows; tail > 0 {
		clear(dst[(c1-c0-tail)/tileRows*step:][:step])
	}
	for r := r0; r < r1; r += tileRows {
		if next := r/tileRows + 1; next < m.tiles() {
			fetch(m.stripe(next, c0, c1)) // it lies too far on for the hardware to see it coming
		}
		to := dst[(r-r0)*tileRows:]
		switch {
		case r+tileRows > r1:
			m.unpackSomeRows(s, to, step, r, r1, c0, c1)
		case m.format.quantised():
			m.unpackTileRows(s, to, step, r/tileRows, c0, c1)
		default:
			m.unpackFloatRows(s, to, step, r/tileRows, c0, c1)
		}
	}
}

// unpackSomeRows does so for the rows of a tile that is not whole.
func (m *Matrix) unpackSomeRows(s *stripeScratch, dst []float32, step, r0, r1, c0, c1 int) {
	l, tile := &layouts[m.format], m.tile(r0/tileRows)
	for r := r0; r < r1; r++ {
		for c := c0; c < c1; {
			n := min(l.run(), c1/l.block-c/l.block)
			values := s.row[:n*l.block]
			l.unpack(values, tile[c/l.block*l.tile:][:n*l.tile], r-r0)
			for i := 0; i < len(values); i += tileRows {
				copy(dst[(c-c0+i)/tileRows*step+(r-r0)*tileRows:], values[i:min(i+tileRows, len(values))])
			}
			c += n * l.block
		}
	}
}

// stripe is the bytes of columns [c0, c1) of a tile.
func (m *Matrix) stripe(t, c0, c1 int) []byte {
	l := &layouts[m.format]
	return m.tile(t)[c0/l.block*l.tile : c1/l.block*l.tile]
}
