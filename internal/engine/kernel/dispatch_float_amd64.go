package kernel

func gemmF16(dst []float32, ldd int, w []uint16, ldw int, x []float32, ldx, k, cols int, scale *float32) {
	if !accelerated {
		gemmF16Ref(dst, ldd, w, ldw, x, ldx, k, cols, scale)
		return
	}
	need(k > 0 && cols > 0 && len(dst) >= (cols-1)*ldd+tileRows && len(w) >= (k-1)*ldw+tileRows && len(x) >= (cols-1)*ldx+k)
	if vnni {
		gemmF16AVX512(&dst[0], ldd, &w[0], ldw, &x[0], ldx, k, cols, scale, 1)
		return
	}
	gemmF16AVX2(&dst[0], ldd, &w[0], ldw, &x[0], ldx, k, cols, scale)
}

func gemmBF16(dst []float32, ldd int, w []uint16, ldw int, x []float32, ldx, k, cols int, scale *float32) {
	if !accelerated {
		gemmBF16Ref(dst, ldd, w, ldw, x, ldx, k, cols, scale)
		return
	}
	need(k > 0 && cols > 0 && len(dst) >= (cols-1)*ldd+tileRows && len(w) >= (k-1)*ldw+tileRows && len(x) >= (cols-1)*ldx+k)
	if vnni {
		gemmBF16AVX512(&dst[0], ldd, &w[0], ldw, &x[0], ldx, k, cols, scale, 1)
		return
	}
	gemmBF16AVX2(&dst[0], ldd, &w[0], ldw, &x[0], ldx, k, cols, scale)
}

func gemmF32(dst []float32, ldd int, w []float32, ldw int, x []float32, ldx, k, cols int, scale *float32) {
	if !accelerated {
		gemmF32Ref(dst, ldd, w, ldw, x, ldx, k, cols, scale)
		return
	}
	need(k > 0 && cols > 0 && len(dst) >= (cols-1)*ldd+tileRows && len(w) >= (k-1)*ldw+tileRows && len(x) >= (cols-1)*ldx+k)
	if vnni {
		gemmF32AVX512(&dst[0], ldd, &w[0], ldw, &x[0], ldx, k, cols, scale, 1)
		return
	}
	gemmF32AVX2(&dst[0], ldd, &w[0], ldw, &x[0], ldx, k, cols, scale)
}

// tilesF16 is gemmF16 for a run of tiles, step weights apart. Meanwhile it asks for what
// follows, next, as far as next is as long as the tiles.
func tilesF16(dst []float32, ldd int, w []uint16, ldw, step, tiles int, x []float32, ldx, k, cols int, scale *float32, next []uint16) {
	if !accelerated {
		tilesF16Ref(dst, ldd, w, ldw, step, tiles, x, ldx, k, cols, scale)
		return
	}
	need(tiles > 0 && k > 0 && cols > 0 && len(dst) >= (cols-1)*ldd+tiles*tileRows && len(w) >= (tiles-1)*step+(k-1)*ldw+tileRows && len(x) >= (cols-1)*ldx+k)
	if len(next) == 0 {
		next = w
	}
	tilesF16AVX2(&dst[0], ldd, &w[0], ldw, 2*step, tiles, &x[0], ldx, k, cols, scale, &next[0])
}

// fetch asks for the cache lines of x.
func fetch(x []byte) {
	if accelerated && len(x) > 0 {
		fetchLines(&x[0], (len(x)+cacheLine-1)/cacheLine)
	}
}

// The vector kernels take multiples of 8; the rest goes to the reference, which does
// the same to each value by itself. Sums are not split so.

func rmsNorm(dst, x, w []float32, eps float32) {
	if n := len(x); accelerated && n > 0 && n%8 == 0 {
		need(len(dst) >= n && len(w) >= n)
		rmsNormAVX2(&dst[0], &x[0], &w[0], eps, n)
		return
	}
	rmsNormRef(dst, x, w, eps)
}

func rope(x, row []float32, dim int) {
	if heads := len(x) / dim; accelerated && heads > 0 && dim%8 == 0 {
		need(len(row) >= 2*dim)
		ropeAVX2(&x[0], &row[0], dim, heads)
		return
	}
	ropeRef(x, row, dim)
}

func swiglu(dst, gate, up []float32) {
	n := len(gate) &^ 7
	if !accelerated || n == 0 {
		swigluRef(dst, gate, up)
		return
	}
	need(len(dst) >= n && len(up) >= n)
	swigluAVX2(&dst[0], &gate[0], &up[0], n)
	swigluRef(dst[n:], gate[n:], up[n:])
}

func addTo(dst, x []float32) {
	n := len(x) &^ 7
	if !accelerated || n == 0 {
		addRef(dst, x)
		return
	}
	need(len(dst) >= n)
	addAVX2(&dst[0], &x[0], n)
	addRef(dst[n:], x[n:])
}

func halves(dst []uint16, x []float32) {
	n := len(x) &^ 7
	if !accelerated || n == 0 {
		halvesRef(dst, x)
		return
	}
	need(len(dst) >= n)
	halvesAVX2(&dst[0], &x[0], n)
	halvesRef(dst[n:], x[n:])
}

func floats(dst []float32, x []uint16) {
	n := len(x) &^ 7
	if !accelerated || n == 0 {
		floatsRef(dst, x)
		return
	}
	need(len(dst) >= n)
	floatsAVX2(&dst[0], &x[0], n)
	floatsRef(dst[n:], x[n:])
}

func maxOf(x []float32) float32 {
	if !accelerated || len(x) == 0 {
		return maxOfRef(x)
	}
	need(len(x)%8 == 0)
	return maxOfAVX2(&x[0], len(x))
}

func expSum(x []float32, shift float32, store bool) float32 {
	if !accelerated || len(x) == 0 {
		return expSumRef(x, shift, store)
	}
	need(len(x)%8 == 0)
	return expSumAVX2(&x[0], len(x), shift, store)
}

func softChunk(s []float32, from, end int, scale float32) (top, sum float32) {
	if !accelerated {
		return softChunkRef(s, from, end, scale)
	}
	need(len(s) >= PageTokens && 0 <= from && from < end && end <= PageTokens)
	if vnni {
		return softChunkAVX512(&s[0], from, end, scale)
	}
	return softChunkAVX2(&s[0], from, end, scale)
}

func merge(acc, part []float32, keep, gain float32) {
	if n := len(part); accelerated && n > 0 && n%8 == 0 {
		need(len(acc) >= n)
		mergeAVX2(&acc[0], &part[0], keep, gain, n)
		return
	}
	mergeRef(acc, part, keep, gain)
}

func fold(top, sum, pageTop, pageSum, keep, gain []float32) {
	n := len(top)
	if !accelerated || n == 0 {
		foldRef(top, sum, pageTop, pageSum, keep, gain)
		return
	}
	need(n%8 == 0 && len(sum) >= n && len(pageTop) >= n && len(pageSum) >= n && len(keep) >= n && len(gain) >= n)
	foldAVX2(&top[0], &sum[0], &pageTop[0], &pageSum[0], &keep[0], &gain[0], n)
}

func scaleBy(x []float32, f float32) {
	n := len(x) &^ 7
	if !accelerated || n == 0 {
		scaleRef(x, f)
		return
	}
	scaleAVX2(&x[0], n, f)
	scaleRef(x[n:], f)
}

func gemvF16(dst []float32, w []uint16, x []float32, tiles int, scale *float32) {
	if !accelerated {
		gemvF16Ref(dst, w, x, tiles, scale)
		return
	}
	need(tiles > 0 && len(x) > 0 && len(dst) >= tiles*tileRows && len(w) >= tiles*len(x)*tileRows)
	gemvF16AVX2(&dst[0], &w[0], &x[0], len(x), tiles, scale)
}

func gemvBF16(dst []float32, w []uint16, x []float32, tiles int, scale *float32) {
	if !accelerated {
		gemvBF16Ref(dst, w, x, tiles, scale)
		return
	}
	need(tiles > 0 && len(x) > 0 && len(dst) >= tiles*tileRows && len(w) >= tiles*len(x)*tileRows)
	gemvBF16AVX2(&dst[0], &w[0], &x[0], len(x), tiles, scale)
}

func gemvF32(dst, w, x []float32, tiles int, scale *float32) {
	if !accelerated {
		gemvF32Ref(dst, w, x, tiles, scale)
		return
	}
	need(tiles > 0 && len(x) > 0 && len(dst) >= tiles*tileRows && len(w) >= tiles*len(x)*tileRows)
	gemvF32AVX2(&dst[0], &w[0], &x[0], len(x), tiles, scale)
}
