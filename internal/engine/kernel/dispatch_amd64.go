package kernel

import "golang.org/x/sys/cpu"

// accelerated says that the AVX2 kernels are in use. Tests clear it to compare.
var accelerated = cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C

func quantise(dst []byte, width, c int, x []float32) {
	if !accelerated {
		quantiseRef(dst, width, c, x)
		return
	}
	blocks := len(x) / qBlock
	need(len(dst) >= blocks*width*qColumn && blocks > 0)
	quantiseAVX2(&dst[0], width, c, &x[0], blocks)
}

// need guards the memory that a kernel touches.
func need(ok bool) {
	if !ok {
		panic("kernel: operands are too short for a vector kernel")
	}
}

// spans checks count tiles against one panel of the given width.
func spans(dst []float32, ldd int, w, x []byte, blocks, count, width, tile int) {
	need(blocks > 0 && count > 0 && len(dst) >= (width-1)*ldd+count*tileRows &&
		len(w) >= count*blocks*tile && len(x) >= blocks*width*qColumn)
}

// spans4 checks one tile against count panels of 4.
func spans4(dst []float32, ldd int, w, x []byte, blocks, count, tile int) {
	need(blocks > 0 && count > 0 && len(dst) >= (4*count-1)*ldd+tileRows &&
		len(w) >= blocks*tile && len(x) >= count*blocks*4*qColumn)
}

func q41x1(dst []float32, ldd int, w, x []byte, blocks, count int) {
	if !accelerated {
		q41x1Ref(dst, ldd, w, x, blocks, count)
		return
	}
	spans(dst, ldd, w, x, blocks, count, 1, 320)
	q41x1AVX2(&dst[0], ldd, &w[0], &x[0], blocks, count)
}

func q41x2(dst []float32, ldd int, w, x []byte, blocks, count int) {
	if !accelerated {
		q41x2Ref(dst, ldd, w, x, blocks, count)
		return
	}
	spans(dst, ldd, w, x, blocks, count, 2, 320)
	q41x2AVX2(&dst[0], ldd, &w[0], &x[0], blocks, count)
}

func q41x4(dst []float32, ldd int, w, x []byte, blocks, count int) {
	if !accelerated {
		q41x4Ref(dst, ldd, w, x, blocks, count)
		return
	}
	spans4(dst, ldd, w, x, blocks, count, 320)
	q41x4AVX2(&dst[0], ldd, &w[0], &x[0], blocks, count)
}

// q41Wide is the unpacked size of one Q4_1 block of 16 rows: 32 x 16 bytes of weights
// in the order of the cells, 16 x f32 d, 16 x f32 m.
const q41Wide = 640

// widenPanels is the number of panels from which unpacking a tile pays.
const widenPanels = 4

// q41Panels is q41x4 for so many panels that unpacking the tile once pays.
func q41Panels(buf *scratch, dst []float32, ldd int, w, x []byte, blocks, count int) {
	if !accelerated || count < widenPanels {
		q41x4(dst, ldd, w, x, blocks, count)
		return
	}
	spans4(dst, ldd, w, x, blocks, count, 320)
	buf.wide = grow(buf.wide, blocks*q41Wide)
	q41WidenAVX2(&buf.wide[0], &w[0], blocks)
	q41x4WideAVX2(&dst[0], ldd, &buf.wide[0], &x[0], blocks, count)
}

func q80Panels(_ *scratch, dst []float32, ldd int, w, x []byte, blocks, count int) {
	q80x4(dst, ldd, w, x, blocks, count)
}

func q80x1(dst []float32, ldd int, w, x []byte, blocks, count int) {
	if !accelerated {
		q80x1Ref(dst, ldd, w, x, blocks, count)
		return
	}
	spans(dst, ldd, w, x, blocks, count, 1, 544)
	q80x1AVX2(&dst[0], ldd, &w[0], &x[0], blocks, count)
}

func q80x2(dst []float32, ldd int, w, x []byte, blocks, count int) {
	if !accelerated {
		q80x2Ref(dst, ldd, w, x, blocks, count)
		return
	}
	spans(dst, ldd, w, x, blocks, count, 2, 544)
	q80x2AVX2(&dst[0], ldd, &w[0], &x[0], blocks, count)
}

func q80x4(dst []float32, ldd int, w, x []byte, blocks, count int) {
	if !accelerated {
		q80x4Ref(dst, ldd, w, x, blocks, count)
		return
	}
	spans4(dst, ldd, w, x, blocks, count, 544)
	q80x4AVX2(&dst[0], ldd, &w[0], &x[0], blocks, count)
}
