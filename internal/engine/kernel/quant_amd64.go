package kernel

// avx2 holds the kernels that need AVX2 and F16C, by format.
var avx2 = [len(layouts)]*quantKernels{
	Q4_0: {one: q40x1AVX2, two: q40x2AVX2, panels: panelKernels{q40x4AVX2}},
	Q4_1: {one: q41x1AVX2, two: q41x2AVX2, panels: panelKernels{q41x4AVX2}},
	Q4_K: {one: q4kx1AVX2, two: q4kx2AVX2, panels: panelKernels{q4kx4AVX2}, widen: q4kWidenAVX2, wide: panelKernels{q4kx4WideAVX2}, group: wide45},
	Q5_0: {one: q50x1AVX2, two: q50x2AVX2, panels: panelKernels{q50x4AVX2}, widen: q50WidenAVX2, wide: panelKernels{q5x4WideAVX2}, group: wide45},
	Q5_1: {one: q51x1AVX2, two: q51x2AVX2, panels: panelKernels{q51x4AVX2}, widen: q51WidenAVX2, wide: panelKernels{q5x4WideAVX2}, group: wide45},
	Q5_K: {one: q5kx1AVX2, two: q5kx2AVX2, panels: panelKernels{q5kx4AVX2}, widen: q5kWidenAVX2, wide: panelKernels{q5x4WideAVX2}, group: wide45},
	Q6_K: {one: q6kx1AVX2, two: q6kx2AVX2, panels: panelKernels{q6kx4AVX2}, widen: q6kWidenAVX2, wide: panelKernels{q6kx4WideAVX2}, group: wide6},
	Q8_0: {one: q80x1AVX2, two: q80x2AVX2, panels: panelKernels{q80x4AVX2}},
}

// The unpacked sizes of 16 rows of 32 values.
const (
	wide45 = 640 // of 4 bits in the order of the cells, of 5 with all low cells first: 32 x 16 bytes, 16 x f32 d, 16 x f32 m
	wide6  = 704 // of 6 bits, all low cells first: 32 x 16 bytes, 2 x 16 x 2 words of sub-scales, 16 x f32 d
)

// kernelsOf gives the vector kernels of a format; nil leaves the work to the reference.
func kernelsOf(f Format) *quantKernels {
	if !accelerated {
		return nil
	}
	if vnni && avx512[f] != nil {
		return avx512[f]
	}
	return avx2[f]
}
