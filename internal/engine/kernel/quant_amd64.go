package kernel

// avx2 holds the kernels that need AVX2 and F16C, by format.
var avx2 = [len(layouts)]*quantKernels{
	Q4_1: {one: q41x1AVX2, two: q41x2AVX2, panels: panelKernels{q41x4AVX2}, widen: q41WidenAVX2, wide: panelKernels{q41x4WideAVX2}, group: wide41},
	Q8_0: {one: q80x1AVX2, two: q80x2AVX2, panels: panelKernels{q80x4AVX2}},
}

// wide41 is the unpacked size of 16 rows of 32 values of 4 bits: 32 x 16 bytes in the
// order of the cells, 16 x f32 d, 16 x f32 m.
const wide41 = 640

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
