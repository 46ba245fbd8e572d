package kernel

// tiles computes units [t0, t1) for columns [c0, c1). A tile whose 16 rows all exist is
// written straight to the result; the padded last one, and sums, go through buf.
func (it *item) tiles(buf *scratch, t0, t1, c0, c1 int) {
	if it.picks != nil {
		it.pick(buf, t0, t1, c0, c1)
		return
	}
	whole := min(t1, it.W.rows/tileRows)
	if t0 < whole {
		switch {
		case !it.quantised():
			it.floatTiles(buf, t0, whole, c0, c1)
			t0 = whole
		case !it.Add:
			it.quantTiles(buf, t0, whole, c0, c1)
			t0 = whole
		}
	}
	for t := t0; t < t1; t++ {
		it.edge(buf, t, c0, c1)
	}
}

// quantTiles multiplies whole tiles in int8: panels of 4 columns, then the rest.
func (it *item) quantTiles(buf *scratch, t0, t1, c0, c1 int) {
	w := it.W
	full := (c1 - c0) / panelMax
	if full > 0 {
		for t := t0; t < t1; t++ {
			w.quantPanels(buf, it.Dst[c0*it.Stride+t*tileRows:], it.Stride, t, it.panel(c0), full)
		}
	}
	c0 += full * panelMax
	switch c1 - c0 {
	case 1, 2:
		tiles := w.data[t0*w.tileBytes() : t1*w.tileBytes()]
		w.quantTiles(it.Dst[c0*it.Stride+t0*tileRows:], it.Stride, tiles, it.panel(c0), t1-t0, c1-c0)
	case 3: // a panel of four whose last column is zero
		for t := t0; t < t1; t++ {
			it.one(buf, t, c0, c1)
			for c := range 3 {
				copy(it.Dst[(c0+c)*it.Stride+t*tileRows:][:tileRows], buf.out[c*tileRows:])
			}
		}
	}
}

// panel is where the panels of column c, a multiple of 4, begin.
func (it *item) panel(c int) []byte { return it.X.panels[panelOffset(c, it.X.k/qBlock):] }

// floatTiles multiplies whole tiles in float32, adding if the product asks for it.
func (it *item) floatTiles(buf *scratch, t0, t1, c0, c1 int) {
	var scale *float32
	if it.Add {
		scale = &it.Scale
	}
	w, dst := it.W, it.Dst[c0*it.Stride:]
	if c1-c0 == 1 && layouts[w.format].block == 1 {
		it.gemv(dst[t0*tileRows:], t0, t1, c0, scale)
		return
	}
	if floatRun(w, dst[t0*tileRows:], it.Stride, t0, t1, it.X.x[c0*w.k:], c1-c0, scale) {
		return
	}
	if w.format == F16 {
		tiles := halvesOf(w.data[t0*w.tileBytes() : t1*w.tileBytes()])
		tilesF16(dst[t0*tileRows:], it.Stride, tiles, tileRows, w.k*tileRows, t1-t0, it.X.x[c0*w.k:], w.k, w.k, c1-c0, scale, tiles[min(tilesAhead, len(tiles)-1):])
		return
	}
	for t := t0; t < t1; t++ {
		it.float(buf, dst[t*tileRows:], it.Stride, t, c0, c1, scale)
	}
}

// tilesAhead is how many weights ahead of use they are asked for.
const tilesAhead = 1024

// gemv is a run of tiles times one column.
func (it *item) gemv(dst []float32, t0, t1, c int, scale *float32) {
	w := it.W
	x, tiles := it.X.x[c*w.k:][:w.k], w.data[t0*w.tileBytes():t1*w.tileBytes()]
	switch w.format {
	case F16:
		gemvF16(dst, halvesOf(tiles), x, t1-t0, scale)
	case BF16:
		gemvBF16(dst, halvesOf(tiles), x, t1-t0, scale)
	default:
		gemvF32(dst, floatsOf(tiles), x, t1-t0, scale)
	}
}

// float multiplies one tile with float activations into out[c*ldo + 0..15].
func (it *item) float(buf *scratch, out []float32, ldo, t, c0, c1 int, scale *float32) {
	w, k := it.W, it.W.k
	x, tile := it.X.x[c0*k:], w.tile(t)
	switch w.format {
	case F16:
		gemmF16(out, ldo, halvesOf(tile), tileRows, x, k, k, c1-c0, scale)
	case BF16:
		gemmBF16(out, ldo, halvesOf(tile), tileRows, x, k, k, c1-c0, scale)
	case F32:
		gemmF32(out, ldo, floatsOf(tile), tileRows, x, k, k, c1-c0, scale)
	default:
		buf.weights = grow(buf.weights, k*tileRows)
		w.unpackTile(t, buf.weights, buf.row[:])
		gemmF32(out, ldo, buf.weights, tileRows, x, k, k, c1-c0, scale)
	}
}

// unpackTile dequantises tile t into dst[k*16 + r]; row is room for one block.
func (m *Matrix) unpackTile(t int, dst, row []float32) {
	l := &layouts[m.format]
	tile := m.tile(t)
	for b := range m.blocks {
		for r := range tileRows {
			l.unpack(row[:l.block], tile[b*l.tile:][:l.tile], r)
			for i, v := range row[:l.block] {
				dst[(b*l.block+i)*tileRows+r] = v
			}
		}
	}
}

// edge computes a tile some columns at a time into buf.out, then copies or adds the
// rows that exist.
func (it *item) edge(buf *scratch, t, c0, c1 int) {
	rows := min(tileRows, it.W.rows-t*tileRows)
	for c := c0; c < c1; c += it.step() {
		n := min(it.step(), c1-c)
		it.one(buf, t, c, c+n)
		for i := range n {
			dst := it.Dst[(c+i)*it.Stride+t*tileRows:][:rows]
			for r, v := range buf.out[i*tileRows:][:rows] {
				if it.Add {
					v = fma32(it.Scale, v, dst[r])
				}
				dst[r] = v
			}
		}
	}
}

// step is how many columns one computes at a time.
func (it *item) step() int {
	if it.quantised() {
		return panelMax
	}
	return floatColumns
}

// one computes one tile for columns [c0, c1), at most step of them, into
// buf.out[column*16 + row]. In int8 the columns are those of one panel.
func (it *item) one(buf *scratch, t, c0, c1 int) {
	w := it.W
	if !it.quantised() {
		it.float(buf, buf.out[:], tileRows, t, c0, c1, nil)
		return
	}
	if width := panelWidth(c1 - c0); width < panelMax {
		w.quantTiles(buf.out[:], tileRows, w.tile(t), it.panel(c0), 1, width)
	} else {
		w.quantPanels(buf, buf.out[:], tileRows, t, it.panel(c0), 1)
	}
}

// pick computes result columns [lo, hi) of MatMulRows. Neighbouring picks of one tile
// share its computation.
func (it *item) pick(buf *scratch, lo, hi, c0, c1 int) {
	for c := c0; c < c1; c += it.step() {
		n, last := min(it.step(), c1-c), -1
		for i := lo; i < hi; i++ {
			row := int(it.picks[i])
			if t := row / tileRows; t != last {
				it.one(buf, t, c, c+n)
				last = t
			}
			for m := range n {
				v := buf.out[m*tileRows+row%tileRows]
				if it.Add {
					v = fma32(it.Scale, v, it.Dst[(c+m)*it.Stride+i])
				}
				it.Dst[(c+m)*it.Stride+i] = v
			}
		}
	}
}
