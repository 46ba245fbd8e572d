package kernel

// Kernels in *_amd64.s. Each follows its reference bit by bit; lengths are checked
// by the callers in dispatch_amd64.go.

//go:noescape
func q40x1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q40x2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q40x4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q41x1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q41x2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q50x1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q50x2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q50x4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q50WidenAVX2(dst, w *byte, blocks int)

//go:noescape
func q51x1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q51x2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q51x4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q51WidenAVX2(dst, w *byte, blocks int)

//go:noescape
func q80x1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q80x2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q4kx1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q4kx2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q4kx4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q4kWidenAVX2(dst, w *byte, blocks int)

//go:noescape
func q5kx1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q5kx2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q5kx4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q5kWidenAVX2(dst, w *byte, blocks int)

//go:noescape
func q6kx1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q6kx2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q6kx4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q6kWidenAVX2(dst, w *byte, blocks int)

//go:noescape
func q41x4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q80x4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q4kx4WideAVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q5x4WideAVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q6kx4WideAVX2(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func gemmF16AVX2(dst *float32, ldd int, w *uint16, ldw int, x *float32, ldx, k, cols int, scale *float32)

//go:noescape
func gemmBF16AVX2(dst *float32, ldd int, w *uint16, ldw int, x *float32, ldx, k, cols int, scale *float32)

//go:noescape
func tilesF16AVX2(dst *float32, ldd int, w *uint16, ldw, step, tiles int, x *float32, ldx, k, cols int, scale *float32, next *uint16)

//go:noescape
func gemmF32AVX2(dst *float32, ldd int, w *float32, ldw int, x *float32, ldx, k, cols int, scale *float32)

//go:noescape
func gemvF16AVX2(dst *float32, w *uint16, x *float32, k, tiles int, scale *float32)

//go:noescape
func gemvBF16AVX2(dst *float32, w *uint16, x *float32, k, tiles int, scale *float32)

//go:noescape
func gemvF32AVX2(dst, w, x *float32, k, tiles int, scale *float32)

//go:noescape
func quantiseAVX2(dst *byte, width, c int, x *float32, blocks int)

//go:noescape
func rmsNormAVX2(dst, x, w *float32, eps float32, n int)

//go:noescape
func ropeAVX2(x, row *float32, dim, heads int)

//go:noescape
func swigluAVX2(dst, gate, up *float32, n int)

//go:noescape
func gegluAVX2(dst, gate, up *float32, n int)

//go:noescape
func geluAVX2(x *float32, n int)

//go:noescape
func addAVX2(dst, x *float32, n int)

//go:noescape
func halvesAVX2(dst *uint16, x *float32, n int)

//go:noescape
func floatsAVX2(dst *float32, x *uint16, n int)

//go:noescape
func maxOfAVX2(x *float32, n int) float32

//go:noescape
func expSumAVX2(x *float32, n int, shift float32, store bool) float32

//go:noescape
func softChunkAVX2(s *float32, from, end int, scale float32) (top, sum float32)

//go:noescape
func mergeAVX2(acc, part *float32, keep, gain float32, n int)

//go:noescape
func foldAVX2(top, sum, pageTop, pageSum, keep, gain *float32, n int)

//go:noescape
func scaleAVX2(x *float32, n int, f float32)

//go:noescape
func fetchLines(p *byte, lines int)

func pause()
