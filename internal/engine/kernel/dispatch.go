package kernel

// ISA names the instruction set whose kernels are in use: "avx2+fma" or "generic"
// (plain Go, same bits, many times slower).
func ISA() string {
	if accelerated {
		return "avx2+fma"
	}
	return "generic"
}

// quantKernels multiply weight tiles with int8 panels. one and two take a run of
// tiles against one panel of that width and write 16 results per tile to
// dst[c*ldd + 16*tile]; four takes one tile against a run of panels and writes to
// dst[(4*panel+c)*ldd]; panels does the same for many panels, with a worker's memory
// to unpack the tile into.
type quantKernels struct {
	one, two, four func(dst []float32, ldd int, w, x []byte, blocks, count int)
	panels         func(buf *scratch, dst []float32, ldd int, w, x []byte, blocks, count int)
}

var (
	kernelsQ41 = quantKernels{one: q41x1, two: q41x2, four: q41x4, panels: q41Panels}
	kernelsQ80 = quantKernels{one: q80x1, two: q80x2, four: q80x4, panels: q80Panels}
)
