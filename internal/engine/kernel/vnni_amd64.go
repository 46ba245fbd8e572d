package kernel

// avx512 holds the kernels that need AVX-512 F, BW, VL and VNNI, by format.
var avx512 = [len(layouts)]*quantKernels{
	Q4_0: {one: q40x1VNNI, two: q40x2VNNI, panels: panelKernels{q40x4VNNI, q40x8VNNI, q40x12VNNI}},
	Q4_1: {one: q41x1VNNI, two: q41x2VNNI, panels: panelKernels{q41x4VNNI, q41x8VNNI, q41x12VNNI}},
	Q5_0: {one: q50x1VNNI, two: q50x2VNNI, panels: panelKernels{q50x4VNNI, q50x8VNNI, q50x12VNNI}},
	Q5_1: {one: q51x1VNNI, two: q51x2VNNI, panels: panelKernels{q51x4VNNI, q51x8VNNI, q51x12VNNI}},
	Q8_0: {one: q80x1VNNI, two: q80x2VNNI, panels: panelKernels{q80x4VNNI, q80x8VNNI, q80x12VNNI}},
	Q4_K: {one: q4kx1VNNI, two: q4kx2VNNI, panels: panelKernels{q4kx4VNNI, q4kx8VNNI, q4kx12VNNI}},
	Q5_K: {one: q5kx1VNNI, two: q5kx2VNNI, panels: panelKernels{q5kx4VNNI, q5kx8VNNI, q5kx12VNNI}},
	Q6_K: {one: q6kx1VNNI, two: q6kx2VNNI, panels: panelKernels{q6kx4VNNI, q6kx8VNNI}},
}

//go:noescape
func q40x1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q40x2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q40x4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q40x8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q40x12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q41x1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q41x2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q41x4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q41x8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q41x12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q50x1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q50x2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q50x4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q50x8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q50x12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q51x1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q51x2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q51x4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q51x8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q51x12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q80x1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q80x2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q80x4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q80x8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q80x12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q4kx1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q4kx2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q4kx4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q4kx8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q4kx12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q5kx1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q5kx2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q5kx4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q5kx8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q5kx12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q6kx1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q6kx2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q6kx4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q6kx8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
