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
			q := panel[c*qBlock:][:qBlock]
			d, s := getFloat(panel[width*qBlock+4*c:]), getFloat(panel[width*(qBlock+4)+4*c:])
			scale := halvesOf(tile[256:])
			for r := range acc {
				sum := int32(0)
				for k := range 16 {
					n := tile[k/4*64+4*r+k%4]
					sum += int32(n&15)*int32(int8(q[k])) + int32(n>>4)*int32(int8(q[16+k]))
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
			q := panel[c*qBlock:][:qBlock]
			d := getFloat(panel[width*qBlock+4*c:])
			scale := halvesOf(tile[512:])
			for r := range acc {
				sum := int32(0)
				for k := range qBlock {
					sum += int32(int8(tile[k/4*64+4*r+k%4])) * int32(int8(q[k]))
				}
				acc[r] = fma32(float32(sum), half16(scale[r])*d, acc[r])
			}
		}
		copy(dst[c*ldd:][:tileRows], acc[:])
	}
}
