//go:build !amd64

package kernel

// On machines without hand-written kernels the references do the work.

const accelerated, vnni = false, false

func kernelsOf(Format) *quantKernels { return nil }

func pause() {}

func floatRun(*Matrix, []float32, int, int, int, []float32, int, *float32) bool { return false }

func fetch([]byte) {}

func quantise(dst []byte, width, c int, x []float32) { quantiseRef(dst, width, c, x) }

func gemmF16(dst []float32, ldd int, w []uint16, ldw int, x []float32, ldx, k, cols int, scale *float32) {
	gemmF16Ref(dst, ldd, w, ldw, x, ldx, k, cols, scale)
}

func gemmBF16(dst []float32, ldd int, w []uint16, ldw int, x []float32, ldx, k, cols int, scale *float32) {
	gemmBF16Ref(dst, ldd, w, ldw, x, ldx, k, cols, scale)
}

func tilesF16(dst []float32, ldd int, w []uint16, ldw, step, tiles int, x []float32, ldx, k, cols int, scale *float32, _ []uint16) {
	tilesF16Ref(dst, ldd, w, ldw, step, tiles, x, ldx, k, cols, scale)
}

func gemmF32(dst []float32, ldd int, w []float32, ldw int, x []float32, ldx, k, cols int, scale *float32) {
	gemmF32Ref(dst, ldd, w, ldw, x, ldx, k, cols, scale)
}

func rmsNorm(dst, x, w []float32, eps float32) { rmsNormRef(dst, x, w, eps) }
func rope(x, row []float32, dim int)           { ropeRef(x, row, dim) }
func swiglu(dst, gate, up []float32)           { swigluRef(dst, gate, up) }
func geglu(dst, gate, up []float32)            { gegluRef(dst, gate, up) }
func gelu(x []float32)                         { geluRef(x) }
func addTo(dst, x []float32)                   { addRef(dst, x) }
func halves(dst []uint16, x []float32)         { halvesRef(dst, x) }
func floats(dst []float32, x []uint16)         { floatsRef(dst, x) }
func maxOf(x []float32) float32                { return maxOfRef(x) }

func expSum(x []float32, shift float32, store bool) float32 { return expSumRef(x, shift, store) }

func softChunk(s []float32, from, end int, scale float32) (top, sum float32) {
	return softChunkRef(s, from, end, scale)
}

func merge(acc, part []float32, keep, gain float32) { mergeRef(acc, part, keep, gain) }

func fold(top, sum, pageTop, pageSum, keep, gain []float32) {
	foldRef(top, sum, pageTop, pageSum, keep, gain)
}

func scaleBy(x []float32, f float32) { scaleRef(x, f) }

func gemvF16(dst []float32, w []uint16, x []float32, tiles int, scale *float32) {
	gemvF16Ref(dst, w, x, tiles, scale)
}

func gemvBF16(dst []float32, w []uint16, x []float32, tiles int, scale *float32) {
	gemvBF16Ref(dst, w, x, tiles, scale)
}

func gemvF32(dst, w, x []float32, tiles int, scale *float32) {
	gemvF32Ref(dst, w, x, tiles, scale)
}
