package kernel

import "fmt"

// Product is one matrix product of a dispatch: Dst[i*Stride + r] = (X * W^T)[i, r] for
// the rows i of X. Stride 0 means W.Rows(). With Add, Dst becomes
// fma(Scale, product, Dst). Low is what adapters add to it, in this order.
type Product struct {
	Dst    []float32
	Stride int
	W      *Matrix
	X      Acts // by value, so that a Slice costs no allocation
	Add    bool
	Scale  float32
	Low    []LowRank

	picks []int32 // MatMulRows only
}

// MatMulAll computes products that do not depend on each other in one dispatch: the
// matrices of one input, with any number of adapters over any of its rows. Results must
// not overlap.
func MatMulAll(p *Pool, products []Product) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mm.begin()
	for _, pr := range products {
		p.mm.add(pr)
	}
	p.mm.start()
}

// MatMul computes dst[n, R] = x[n, K] * W^T.
func MatMul(p *Pool, dst []float32, w *Matrix, x *Acts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mm.begin()
	p.mm.add(Product{Dst: dst, W: w, X: *x})
	p.mm.start()
}

// MatMulMany computes dsts[i][n, R_i] = x * W_i^T for several matrices with one
// dispatch (query, key and value; gate and up).
func MatMulMany(p *Pool, dsts [][]float32, ws []*Matrix, x *Acts) {
	if len(dsts) != len(ws) {
		panic(fmt.Sprintf("kernel: %d results for %d matrices", len(dsts), len(ws)))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mm.begin()
	for i, w := range ws {
		p.mm.add(Product{Dst: dsts[i], W: w, X: *x})
	}
	p.mm.start()
}

// MatMulAddScaled computes dst[i*ldd + r] += scale * (x * W^T)[i, r] with one
// rounding, fma(scale, product, dst).
func MatMulAddScaled(p *Pool, dst []float32, ldd int, w *Matrix, x *Acts, scale float32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mm.begin()
	p.mm.add(Product{Dst: dst, Stride: ldd, W: w, X: *x, Add: true, Scale: scale})
	p.mm.start()
}

// MatMulRows computes dst[n, len(rows)]: column i is row rows[i] of the product.
// It costs one tile of 16 rows per distinct neighbourhood, so it suits choices out
// of a large output matrix. low is what adapters add to it.
func MatMulRows(p *Pool, dst []float32, w *Matrix, x *Acts, rows []int32, low ...LowRank) {
	for _, r := range rows {
		if r < 0 || int(r) >= w.rows {
			panic(fmt.Sprintf("kernel: row %d of a matrix with %d", r, w.rows))
		}
	}
	if len(rows) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mm.begin()
	p.mm.add(Product{Dst: dst, Stride: len(rows), W: w, X: *x, picks: rows, Low: low})
	p.mm.start()
}

// quantised tells whether the product is computed in int8.
func (pr *Product) quantised() bool {
	return pr.X.mode == Int8 && pr.W.format.quantised()
}

// check panics if the shapes do not fit.
func (pr *Product) check() {
	w, n, rows := pr.W, pr.X.n, pr.W.rows
	if pr.picks != nil {
		rows = len(pr.picks)
	}
	if w.k != pr.X.k || pr.Stride < rows || n > 0 && len(pr.Dst) < (n-1)*pr.Stride+rows {
		panic(fmt.Sprintf("kernel: matrix [%d, %d] times activations [%d, %d] into %d values of stride %d", w.rows, w.k, n, pr.X.k, len(pr.Dst), pr.Stride))
	}
	if n > 0 && pr.quantised() && pr.X.panels == nil {
		panic("kernel: sliced activations with quantised weights")
	}
}
