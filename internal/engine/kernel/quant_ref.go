package kernel

// The Int8 product of every quantised format. In each group of 32 values the integer
// sum is exact: at most 32*128*127 for Q8_0, and 32*128*32*127 < 2^24 for Q6_K, whose
// codes hold the sub-scales; so its conversion to float32 is exact as well. Then
//
//	acc = fma(float(isum), d*da, acc)
//	acc = fma(m, s, acc)              if the format has an offset
//
// where da and s = da*sum(x) belong to the column's 32 values; groups ascend.

// tilesRef is count tiles times one panel of the given width.
func (l *layout) tilesRef(dst []float32, ldd int, w, x []byte, blocks, count, width int) {
	for t := range count {
		l.tileRef(dst[t*tileRows:], ldd, w[t*blocks*l.tile:], x, blocks, width)
	}
}

// panelsRef is one tile times count panels of 4.
func (l *layout) panelsRef(dst []float32, ldd int, w, x []byte, blocks, count int) {
	for p := range count {
		l.tileRef(dst[p*panelMax*ldd:], ldd, w, x[p*panelMax*blocks*l.columnBytes():], blocks, panelMax)
	}
}

// tileRef is one tile times one panel of the given width.
func (l *layout) tileRef(dst []float32, ldd int, w, x []byte, blocks, width int) {
	var acc [panelMax][tileRows]float32
	for b := range blocks {
		tile := w[b*l.tile:][:l.tile]
		for sub := range l.block / qBlock {
			l.groupRef(&acc, tile, sub, x[:width*qColumn], width)
			x = x[width*qColumn:]
		}
	}
	for c := range width {
		copy(dst[c*ldd:][:tileRows], acc[c][:])
	}
}

// groupRef adds one group of 32 values of 16 rows.
func (l *layout) groupRef(acc *[panelMax][tileRows]float32, tile []byte, sub int, panel []byte, width int) {
	var x [panelMax][qBlock]int32
	for c := range width {
		x[c] = widen(panel[c*qBlock:])
	}
	var q [qBlock]int32
	for r := range tileRows {
		l.codes(&q, tile, sub, r)
		dw, m := l.scales(tile, sub, r)
		for c := range width {
			d, s := getFloat(panel[width*qBlock+4*c:]), getFloat(panel[width*(qBlock+4)+4*c:])
			a := fma32(float32(dotRef(&q, &x[c])), dw*d, acc[c][r])
			if l.offset {
				a = fma32(m, s, a)
			}
			acc[c][r] = a
		}
	}
}

func dotRef(a, b *[qBlock]int32) (sum int32) {
	for i := 0; i < qBlock; i += 4 {
		sum += a[i]*b[i] + a[i+1]*b[i+1] + a[i+2]*b[i+2] + a[i+3]*b[i+3]
	}
	return sum
}

// widen reads one column's block of activations.
func widen(b []byte) (q [qBlock]int32) {
	for i, v := range b[:qBlock] {
		q[i] = int32(int8(v))
	}
	return q
}
