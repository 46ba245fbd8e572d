package kernel

import "fmt"

// Acts is n rows of k activations, prepared once and used by any number of
// products. The zero value is ready for Set; buffers are reused.
//
// For quantised weights in Int8 mode, Set rounds each row and 32-block to int8 and
// packs panels of columns (a column of the product is a row here):
//
//	panel of 4: block 0 {4 x 32 int8, 4 x f32 d, 4 x f32 s,
//	            4 x int32 neg, 4 x int32 neg16} | block 1 ... (192 bytes each)
//	rest of n : one panel of 1 or 2 columns, or a padded one of 4
//
// where x ~ d*q, s = d*sum(q), neg = -sum(q), neg16 the same of the first 16 q: added 2^b
// times, they take a bias of 2^b out of weights. Float weights, and Float32 mode, read the caller's
// x, which must stay unchanged as long as this Acts is in use.
type Acts struct {
	x      []float32
	n, k   int
	mode   Mode
	panels []byte // nil if there are none (k%32 != 0, Float32 mode, Slice)
	store  []byte // the memory behind panels
}

// Set prepares x[n, k]. Int8 panels exist only if k is a multiple of 32.
func (a *Acts) Set(p *Pool, x []float32, n, k int, mode Mode) {
	if n < 0 || k <= 0 || len(x) < n*k {
		panic(fmt.Sprintf("kernel: activations [%d, %d] out of %d values", n, k, len(x)))
	}
	a.x, a.n, a.k, a.mode, a.panels = x[:n*k], n, k, mode, nil
	if mode != Int8 || k%qBlock != 0 || n == 0 {
		return
	}
	size := panelOffset(n, k/qBlock)
	if cap(a.store) < size {
		a.store = alignedBytes(size)
	}
	a.panels = a.store[:size]
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set.x, p.set.n, p.set.k, p.set.panels = a.x, n, k, a.panels
	p.run((n+3)/4, p.runSet)
	p.set.x, p.set.panels = nil, nil
}

// Len is the number of rows n.
func (a *Acts) Len() int { return a.n }

// K is the number of values in a row.
func (a *Acts) K() int { return a.k }

// Slice gives rows [lo, hi) for products with F32 and F16 matrices (adapters of
// single sequences in a batch) or in Float32 mode.
func (a *Acts) Slice(lo, hi int) Acts {
	if lo < 0 || hi < lo || hi > a.n {
		panic(fmt.Sprintf("kernel: rows %d to %d of %d activations", lo, hi, a.n))
	}
	return Acts{x: a.x[lo*a.k : hi*a.k], n: hi - lo, k: a.k, mode: a.mode}
}

const (
	qBlock   = 32          // values that share one scale
	qColumn  = qBlock + 16 // bytes of one column's block: q, d, s, neg, neg16
	panelMax = 4           // columns of a full panel
)

// panelOffset is where column c's panel begins; c is a multiple of 4, or n itself
// for the size of all panels.
func panelOffset(c, blocks int) int {
	return (c/panelMax*panelMax + panelWidth(c%panelMax)) * blocks * qColumn
}

// panelWidth is the width of the panel that holds the last rest columns.
func panelWidth(rest int) int {
	if rest == 3 {
		return 4
	}
	return rest
}

// setJob quantises panel by panel.
type setJob struct {
	x      []float32
	n, k   int
	panels []byte
}

func (j *setJob) run(_, panel int) {
	c0, blocks := panel*panelMax, j.k/qBlock
	cols := min(j.n-c0, panelMax)
	width := panelWidth(cols)
	dst := j.panels[c0*blocks*qColumn:][:width*blocks*qColumn]
	for c := range width {
		if c < cols {
			quantise(dst, width, c, j.x[(c0+c)*j.k:][:j.k])
		} else {
			clearColumn(dst, width, c, blocks)
		}
	}
}

// clearColumn zeroes a padding column.
func clearColumn(dst []byte, width, c, blocks int) {
	for b := range blocks {
		block := dst[b*width*qColumn:][:width*qColumn]
		clear(block[c*qBlock:][:qBlock])
		clear(block[width*qBlock+4*c:][:4])
		clear(block[width*(qBlock+4)+4*c:][:4])
		clear(block[width*(qBlock+8)+4*c:][:4])
		clear(block[width*(qBlock+12)+4*c:][:4])
	}
}
