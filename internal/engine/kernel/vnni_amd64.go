package kernel

// avx512 holds the kernels that need AVX-512 F, BW, VL and VNNI, by format.
var avx512 = [len(layouts)]*quantKernels{
	Q4_1: {one: q41x1VNNI, two: q41x2VNNI, panels: panelKernels{q41x4VNNI, q41x8VNNI, q41x12VNNI}},
	Q8_0: {one: q80x1VNNI, two: q80x2VNNI, panels: panelKernels{q80x4VNNI, q80x8VNNI, q80x12VNNI}},
}

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
func q80x1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q80x2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q80x4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q80x8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)

//go:noescape
func q80x12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
