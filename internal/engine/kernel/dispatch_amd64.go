package kernel

import "golang.org/x/sys/cpu"

// accelerated says that the AVX2 kernels are in use. Tests clear it to compare.
var accelerated = cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C

// vnni says that the AVX-512 kernels are in use where there are any, the AVX2 ones
// elsewhere. The cpu package reports these features only if the system saves the
// registers as well.
var vnni = accelerated && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VNNI

func quantise(dst []byte, width, c int, x []float32) {
	if !accelerated {
		quantiseRef(dst, width, c, x)
		return
	}
	blocks := len(x) / qBlock
	need(len(dst) >= blocks*width*qColumn && blocks > 0)
	quantiseAVX2(&dst[0], width, c, &x[0], blocks)
}
