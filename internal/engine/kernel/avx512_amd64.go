package kernel

// Float kernels in avx512_*_amd64.s; see asm_amd64.go.

//go:noescape
func gemmF16AVX512(dst *float32, ldd int, w *uint16, ldw int, x *float32, ldx, k, cols int, scale *float32)

//go:noescape
func gemmBF16AVX512(dst *float32, ldd int, w *uint16, ldw int, x *float32, ldx, k, cols int, scale *float32)

//go:noescape
func gemmF32AVX512(dst *float32, ldd int, w *float32, ldw int, x *float32, ldx, k, cols int, scale *float32)
