package kernel

// tiles computes tiles [t0, t1) of an item for columns [c0, c1). A tile whose 16
// rows all exist is written straight to dst; the padded last one goes through buf.
func (j *matmulJob) tiles(buf *scratch, it *product, t0, t1, c0, c1 int) {
	whole := min(t1, it.w.rows/tileRows)
	if j.quantised(it.w) && !j.scaled {
		if t0 < whole {
			j.quantTiles(buf, it, t0, whole, c0, c1)
		}
		t0 = max(t0, whole)
	}
	for t := t0; t < t1; t++ {
		switch {
		case t < whole && !j.quantised(it.w):
			var scale *float32
			if j.scaled {
				scale = &j.scale
			}
			j.floatTile(buf, it.w, t, it.dst[c0*it.ldd+t*tileRows:], it.ldd, c0, c1, scale)
		default:
			j.edgeTile(buf, it, t, c0, c1)
		}
	}
}

// quantTiles multiplies whole tiles in int8: panels of 4 columns, then the rest.
func (j *matmulJob) quantTiles(buf *scratch, it *product, t0, t1, c0, c1 int) {
	w, q := it.w, layouts[it.w.format].quant
	full := (c1 - c0) / panelMax
	if full > 0 {
		x := j.x.panels[c0*w.blocks*qColumn:]
		for t := t0; t < t1; t++ {
			q.four(it.dst[c0*it.ldd+t*tileRows:], it.ldd, w.tile(t), x, w.blocks, full)
		}
	}
	c0 += full * panelMax
	x := j.x.panels[c0*w.blocks*qColumn:]
	switch c1 - c0 {
	case 1:
		q.one(it.dst[c0*it.ldd+t0*tileRows:], it.ldd, w.data[t0*w.tileBytes():t1*w.tileBytes()], x, w.blocks, t1-t0)
	case 2:
		q.two(it.dst[c0*it.ldd+t0*tileRows:], it.ldd, w.data[t0*w.tileBytes():t1*w.tileBytes()], x, w.blocks, t1-t0)
	case 3:
		j.paddedPanel(buf, it, t0, t1, c0)
	}
}

// paddedPanel is the rest of three columns: a panel of four whose last is zero.
func (j *matmulJob) paddedPanel(buf *scratch, it *product, t0, t1, c0 int) {
	for t := t0; t < t1; t++ {
		j.anyTile(buf, it.w, t, c0, 3)
		for c := range 3 {
			copy(it.dst[(c0+c)*it.ldd+t*tileRows:][:tileRows], buf.out[c*tileRows:])
		}
	}
}

// floatColumns bounds one call of a float kernel.
const floatColumns = 96

// floatTile multiplies one tile with float activations into out[c*ldo + 0..15].
func (j *matmulJob) floatTile(buf *scratch, w *Matrix, t int, out []float32, ldo, c0, c1 int, scale *float32) {
	k := w.k
	tile := w.tile(t)
	if w.format != F16 && w.format != F32 {
		tile = nil
		buf.weights = grow(buf.weights, k*tileRows)
		w.unpackTile(t, buf.weights, buf.row[:])
	}
	for c := c0; c < c1; c += floatColumns {
		n, x, dst := min(floatColumns, c1-c), j.x.x[c*k:], out[(c-c0)*ldo:]
		switch {
		case tile == nil:
			gemmF32(dst, ldo, buf.weights, tileRows, x, k, k, n, scale)
		case w.format == F16:
			gemmF16(dst, ldo, halvesOf(tile), tileRows, x, k, k, n, scale)
		default:
			gemmF32(dst, ldo, floatsOf(tile), tileRows, x, k, k, n, scale)
		}
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

// edgeTile computes a tile some columns at a time into buf.out, then copies or adds
// the rows that exist.
func (j *matmulJob) edgeTile(buf *scratch, it *product, t, c0, c1 int) {
	rows := min(tileRows, it.w.rows-t*tileRows)
	step := panelMax
	if !j.quantised(it.w) {
		step = floatColumns
	}
	for c := c0; c < c1; c += step {
		n := min(step, c1-c)
		j.anyTile(buf, it.w, t, c, n)
		for i := range n {
			dst := it.dst[(c+i)*it.ldd+t*tileRows:][:rows]
			for r, v := range buf.out[i*tileRows:][:rows] {
				if j.scaled {
					v = fma32(j.scale, v, dst[r])
				}
				dst[r] = v
			}
		}
	}
}

// anyTile computes one tile for columns c to c+n into buf.out[column*16 + row]. In
// int8 the columns are those of one panel.
func (j *matmulJob) anyTile(buf *scratch, w *Matrix, t, c, n int) {
	if !j.quantised(w) {
		j.floatTile(buf, w, t, buf.out[:], tileRows, c, c+n, nil)
		return
	}
	q, x := layouts[w.format].quant, j.x.panels[c*w.blocks*qColumn:]
	switch panelWidth(n) {
	case 1:
		q.one(buf.out[:], tileRows, w.tile(t), x, w.blocks, 1)
	case 2:
		q.two(buf.out[:], tileRows, w.tile(t), x, w.blocks, 1)
	default:
		q.four(buf.out[:], tileRows, w.tile(t), x, w.blocks, 1)
	}
}

// runPicks computes result columns [lo, hi) of MatMulRows. Neighbouring picks of one
// tile share its computation.
func (j *matmulJob) runPicks(buf *scratch, lo, hi, c0, c1 int) {
	it := &j.items[0]
	for c := c0; c < c1; c += panelMax {
		n, last := min(panelMax, c1-c), -1
		for i := lo; i < hi; i++ {
			row := int(j.picks[i])
			if t := row / tileRows; t != last {
				j.anyTile(buf, it.w, t, c, n)
				last = t
			}
			for m := range n {
				it.dst[(c+m)*it.ldd+i] = buf.out[m*tileRows+row%tileRows]
			}
		}
	}
}
