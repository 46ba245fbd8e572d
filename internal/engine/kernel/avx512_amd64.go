package kernel

// Float kernels in avx512_*_amd64.s; see asm_amd64.go. They take a run of tiles, each k*ldw
// values after the one before.

// floatRun multiplies tiles [t0, t1) of a float matrix with cols rows x in one call, if
// there is a kernel that can.
func floatRun(w *Matrix, dst []float32, ldd, t0, t1 int, x []float32, cols int, scale *float32) bool {
	if !vnni {
		return false
	}
	k, n, run := w.k, t1-t0, w.data[t0*w.tileBytes():t1*w.tileBytes()]
	need(n > 0 && k > 0 && cols > 0 && len(dst) >= (cols-1)*ldd+n*tileRows && len(x) >= cols*k)
	switch w.format {
	case F16:
		gemmF16AVX512(&dst[0], ldd, &halvesOf(run)[0], tileRows, &x[0], k, k, cols, scale, n)
	case BF16:
		gemmBF16AVX512(&dst[0], ldd, &halvesOf(run)[0], tileRows, &x[0], k, k, cols, scale, n)
	case F32:
		gemmF32AVX512(&dst[0], ldd, &floatsOf(run)[0], tileRows, &x[0], k, k, cols, scale, n)
	default:
		return false
	}
	return true
}

//go:noescape
func gemmF16AVX512(dst *float32, ldd int, w *uint16, ldw int, x *float32, ldx, k, cols int, scale *float32, tiles int)

//go:noescape
func gemmBF16AVX512(dst *float32, ldd int, w *uint16, ldw int, x *float32, ldx, k, cols int, scale *float32, tiles int)

//go:noescape
func gemmF32AVX512(dst *float32, ldd int, w *float32, ldw int, x *float32, ldx, k, cols int, scale *float32, tiles int)

//go:noescape
func softChunkAVX512(s *float32, from, end int, scale float32) (top, sum float32)
