package kernel

// quantKernels are the vector kernels of one format. blocks counts blocks of weights,
// but for wide groups of 32.
type quantKernels struct {
	// one and two multiply count tiles with one panel of that width and write 16 results
	// per tile to dst[c*ldd + 16*tile].
	one, two quantKernel
	// panels multiply one tile with panels of 4; empty if panels always go through wide.
	panels panelKernels
	// widen unpacks a tile for wide, which does what panels do; nil if unpacking never pays.
	widen func(dst, w *byte, blocks int)
	wide  panelKernels
	group int // bytes of 16 rows and 32 values, unpacked
}

// panelKernels multiply one tile with count groups of 1, 2 and 3 panels of 4, by number
// minus 1, and write to dst[(4*panel+c)*ldd]. The last ones may be nil.
type panelKernels [3]quantKernel

type quantKernel func(dst *float32, ldd int, w, x *byte, blocks, count int)

// widenPanels is the number of panels from which unpacking a tile pays, where there is
// a choice.
const widenPanels = 4

// columnBytes is what one block of weights meets of a column in a panel.
func (l *layout) columnBytes() int { return l.block / qBlock * qColumn }

// tiles multiplies count tiles with one panel of width 1 or 2.
func (m *Matrix) quantTiles(dst []float32, ldd int, w, x []byte, count, width int) {
	l, k := &layouts[m.format], kernelsOf(m.format)
	if k == nil {
		l.tilesRef(dst, ldd, w, x, m.blocks, count, width)
		return
	}
	need(m.blocks > 0 && count > 0 && len(dst) >= (width-1)*ldd+count*tileRows &&
		len(w) >= count*m.tileBytes() && len(x) >= m.blocks*l.columnBytes()*width)
	f := k.one
	if width == 2 {
		f = k.two
	}
	f(&dst[0], ldd, &w[0], &x[0], m.blocks, count)
}

// panels multiplies tile t with count panels of 4.
func (m *Matrix) quantPanels(buf *scratch, dst []float32, ldd, t int, x []byte, count int) {
	l, k, w := &layouts[m.format], kernelsOf(m.format), m.tile(t)
	if k == nil {
		l.panelsRef(dst, ldd, w, x, m.blocks, count)
		return
	}
	need(m.blocks > 0 && count > 0 && len(dst) >= (panelMax*count-1)*ldd+tileRows &&
		len(x) >= count*m.blocks*l.columnBytes()*panelMax)
	size := m.k / qBlock * qColumn * panelMax
	if k.widen == nil || k.panels[0] != nil && count < widenPanels {
		k.panels.run(dst, ldd, &w[0], x, m.blocks, count, size)
		return
	}
	groups := m.k / qBlock
	buf.wide = grow(buf.wide, groups*k.group)
	k.widen(&buf.wide[0], &w[0], m.blocks)
	k.wide.run(dst, ldd, &buf.wide[0], x, groups, count, size)
}

// run takes panels, each of size bytes, in the largest groups that there are, but two
// twos rather than three and one.
func (k *panelKernels) run(dst []float32, ldd int, w *byte, x []byte, blocks, count, size int) {
	for p, n := 0, len(k); n > 0; n-- {
		groups := (count - p) / n
		if n == 3 && (count-p)%3 == 1 {
			groups--
		}
		if k[n-1] == nil || groups <= 0 {
			continue
		}
		k[n-1](&dst[p*panelMax*ldd], ldd, w, &x[p*size], blocks, groups)
		p += groups * n
	}
}

// need guards the memory that a kernel touches.
func need(ok bool) {
	if !ok {
		panic("kernel: operands are too short for a vector kernel")
	}
}
