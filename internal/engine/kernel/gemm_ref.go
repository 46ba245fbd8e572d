package kernel

// A float kernel multiplies one tile of 16 weight columns, w[k*ldw + 0..15], with
// cols rows of activations, x[c*ldx + k], into dst[c*ldd + 0..15]. Even and odd k
// have an accumulator each, out = even + odd. With scale == nil dst becomes out, or
// else dst = fma(*scale, out, dst).
//
// The stride ldw makes the same code serve packed tiles (ldw = 16), key pages
// (ldw = PageTokens) and value pages (ldw = dim).

func gemmF16Ref(dst []float32, ldd int, w []uint16, ldw int, x []float32, ldx, k, cols int, scale *float32) {
	for c := range cols {
		var acc [2][tileRows]float32
		for i, f := range x[c*ldx:][:k] {
			a := &acc[i&1]
			for r, h := range w[i*ldw:][:tileRows] {
				a[r] = fma32(half16(h), f, a[r])
			}
		}
		storeRef(dst[c*ldd:][:tileRows], &acc, scale)
	}
}

func gemmBF16Ref(dst []float32, ldd int, w []uint16, ldw int, x []float32, ldx, k, cols int, scale *float32) {
	for c := range cols {
		var acc [2][tileRows]float32
		for i, f := range x[c*ldx:][:k] {
			a, h := &acc[i&1], w[i*ldw:][:tileRows]
			for r := range a {
				a[r] = fma32(brain16(h[brainAt(r)]), f, a[r])
			}
		}
		storeRef(dst[c*ldd:][:tileRows], &acc, scale)
	}
}

func gemmF32Ref(dst []float32, ldd int, w []float32, ldw int, x []float32, ldx, k, cols int, scale *float32) {
	for c := range cols {
		var acc [2][tileRows]float32
		for i, f := range x[c*ldx:][:k] {
			a := &acc[i&1]
			for r, v := range w[i*ldw:][:tileRows] {
				a[r] = fma32(v, f, a[r])
			}
		}
		storeRef(dst[c*ldd:][:tileRows], &acc, scale)
	}
}

func storeRef(dst []float32, acc *[2][tileRows]float32, scale *float32) {
	for r := range dst {
		out := acc[0][r] + acc[1][r]
		if scale != nil {
			out = fma32(*scale, out, dst[r])
		}
		dst[r] = out
	}
}

// tilesF16Ref is gemmF16 for a run of tiles, step weights apart: side by side in the rows
// of a page, or one after the other.
func tilesF16Ref(dst []float32, ldd int, w []uint16, ldw, step, tiles int, x []float32, ldx, k, cols int, scale *float32) {
	for t := range tiles {
		gemmF16Ref(dst[t*tileRows:], ldd, w[t*step:], ldw, x, ldx, k, cols, scale)
	}
}

// gemv kernels multiply a run of packed tiles, tile after tile, with one row x into
// dst[16*tile + 0..15]; len(x) is k.

func gemvF16Ref(dst []float32, w []uint16, x []float32, tiles int, scale *float32) {
	for t := range tiles {
		gemmF16Ref(dst[t*tileRows:], tileRows, w[t*len(x)*tileRows:], tileRows, x, len(x), len(x), 1, scale)
	}
}

func gemvBF16Ref(dst []float32, w []uint16, x []float32, tiles int, scale *float32) {
	for t := range tiles {
		gemmBF16Ref(dst[t*tileRows:], tileRows, w[t*len(x)*tileRows:], tileRows, x, len(x), len(x), 1, scale)
	}
}

func gemvF32Ref(dst, w, x []float32, tiles int, scale *float32) {
	for t := range tiles {
		gemmF32Ref(dst[t*tileRows:], tileRows, w[t*len(x)*tileRows:], tileRows, x, len(x), len(x), 1, scale)
	}
}
