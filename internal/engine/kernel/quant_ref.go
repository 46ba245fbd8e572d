package kernel

func q41x1Ref(dst []float32, ldd int, w, x []byte, blocks, count int) {
	for t := range count {
		q41TileRef(dst[t*tileRows:], ldd, w[t*blocks*320:], x, blocks, 1)
	}
}

func q41x2Ref(dst []float32, ldd int, w, x []byte, blocks, count int) {
	for t := range count {
		q41TileRef(dst[t*tileRows:], ldd, w[t*blocks*320:], x, blocks, 2)
	}
}

func q41x4Ref(dst []float32, ldd int, w, x []byte, blocks, count int) {
	for p := range count {
		q41TileRef(dst[p*4*ldd:], ldd, w, x[p*4*blocks*qColumn:], blocks, 4)
	}
}

// q41TileRef is one Q4_1 tile times one panel of the given width.
func q41TileRef(dst []float32, ldd int, w, x []byte, blocks, width int) {
	for c := range width {
		var acc [tileRows]float32
		for b := range blocks {
			tile, panel := w[b*320:][:320], x[b*width*qColumn:][:width*qColumn]
			q := widen(panel[c*qBlock:])
			d, s := getFloat(panel[width*qBlock+4*c:]), getFloat(panel[width*(qBlock+4)+4*c:])
			scale := halvesOf(tile[256:])
			for r := range acc {
				sum := int32(0)
				for g := 0; g < 16; g += 4 {
					n, lo, hi := tile[16*g+4*r:][:4], q[g:g+4], q[16+g:16+g+4]
					sum += int32(n[0]&15)*lo[0] + int32(n[1]&15)*lo[1] + int32(n[2]&15)*lo[2] + int32(n[3]&15)*lo[3] +
						int32(n[0]>>4)*hi[0] + int32(n[1]>>4)*hi[1] + int32(n[2]>>4)*hi[2] + int32(n[3]>>4)*hi[3]
				}
				acc[r] = fma32(float32(sum), half16(scale[r])*d, acc[r])
				acc[r] = fma32(half16(scale[tileRows+r]), s, acc[r])
			}
		}
		copy(dst[c*ldd:][:tileRows], acc[:])
	}
}

func q80x1Ref(dst []float32, ldd int, w, x []byte, blocks, count int) {
	for t := range count {
		q80TileRef(dst[t*tileRows:], ldd, w[t*blocks*544:], x, blocks, 1)
	}
}

func q80x2Ref(dst []float32, ldd int, w, x []byte, blocks, count int) {
	for t := range count {
		q80TileRef(dst[t*tileRows:], ldd, w[t*blocks*544:], x, blocks, 2)
	}
}

func q80x4Ref(dst []float32, ldd int, w, x []byte, blocks, count int) {
	for p := range count {
		q80TileRef(dst[p*4*ldd:], ldd, w, x[p*4*blocks*qColumn:], blocks, 4)
	}
}

// q80TileRef is one Q8_0 tile times one panel of the given width.
func q80TileRef(dst []float32, ldd int, w, x []byte, blocks, width int) {
	for c := range width {
		var acc [tileRows]float32
		for b := range blocks {
			tile, panel := w[b*544:][:544], x[b*width*qColumn:][:width*qColumn]
			q := widen(panel[c*qBlock:])
			d := getFloat(panel[width*qBlock+4*c:])
			scale := halvesOf(tile[512:])
			for r := range acc {
				sum := int32(0)
				for g := 0; g < qBlock; g += 4 {
					n, v := tile[16*g+4*r:][:4], q[g:g+4]
					sum += int32(int8(n[0]))*v[0] + int32(int8(n[1]))*v[1] + int32(int8(n[2]))*v[2] + int32(int8(n[3]))*v[3]
				}
				acc[r] = fma32(float32(sum), half16(scale[r])*d, acc[r])
			}
		}
		copy(dst[c*ldd:][:tileRows], acc[:])
	}
}

// widen reads one column's block of activations.
func widen(b []byte) (q [qBlock]int32) {
	for i, v := range b[:qBlock] {
		q[i] = int32(int8(v))
	}
	return q
}
