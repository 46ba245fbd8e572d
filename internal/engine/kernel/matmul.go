package kernel

import "fmt"

// MatMul computes dst[n, R] = x[n, K] * W^T.
func MatMul(p *Pool, dst []float32, w *Matrix, x *Acts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.mm.begin(x)
	j.add(dst, w.rows, w)
	j.start()
}

// MatMulMany computes dsts[i][n, R_i] = x * W_i^T for several matrices with one
// dispatch (query, key and value; gate and up).
func MatMulMany(p *Pool, dsts [][]float32, ws []*Matrix, x *Acts) {
	if len(dsts) != len(ws) {
		panic(fmt.Sprintf("kernel: %d results for %d matrices", len(dsts), len(ws)))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.mm.begin(x)
	for i, w := range ws {
		j.add(dsts[i], w.rows, w)
	}
	j.start()
}

// MatMulAddScaled computes dst[i*ldd + r] += scale * (x * W^T)[i, r] with one
// rounding, fma(scale, product, dst): the second half of a low-rank adapter.
func MatMulAddScaled(p *Pool, dst []float32, ldd int, w *Matrix, x *Acts, scale float32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.mm.begin(x)
	j.add(dst, ldd, w)
	j.scale, j.scaled = scale, true
	j.start()
}

// MatMulRows computes dst[n, len(rows)]: column i is row rows[i] of the product.
// It costs one tile of 16 rows per distinct neighbourhood, so it suits choices out
// of a large output matrix.
func MatMulRows(p *Pool, dst []float32, w *Matrix, x *Acts, rows []int32) {
	for _, r := range rows {
		if r < 0 || int(r) >= w.rows {
			panic(fmt.Sprintf("kernel: row %d of a matrix with %d", r, w.rows))
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.mm.begin(x)
	j.check(dst, len(rows), len(rows), w)
	j.items = append(j.items, product{dst: dst, ldd: len(rows), w: w})
	j.picks = rows
	j.start()
}

// columnChunk is how many activation rows one task takes at most: it keeps the
// panels of a chunk in the second-level cache and one call below 100 µs.
const columnChunk = 256

// product is one matrix of a dispatch.
type product struct {
	dst []float32
	ldd int
	w   *Matrix
}

// matmulJob is the dispatch in progress. Its units of work are tiles: all tiles of
// all items for one chunk of columns, then the next chunk. A task is a run of units.
type matmulJob struct {
	pool   *Pool
	x      Acts
	items  []product
	picks  []int32 // MatMulRows only
	scale  float32
	scaled bool
	units  int // per chunk of columns
	perRun int // units in a task
}

func (j *matmulJob) begin(x *Acts) *matmulJob {
	j.x = *x
	j.items, j.picks, j.scaled, j.units = j.items[:0], nil, false, 0
	return j
}

func (j *matmulJob) add(dst []float32, ldd int, w *Matrix) {
	j.check(dst, ldd, w.rows, w)
	j.items = append(j.items, product{dst, ldd, w})
	j.units += w.tiles()
}

func (j *matmulJob) check(dst []float32, ldd, rows int, w *Matrix) {
	n := j.x.n
	if w.k != j.x.k || ldd < rows || n > 0 && len(dst) < (n-1)*ldd+rows {
		panic(fmt.Sprintf("kernel: matrix [%d, %d] times activations [%d, %d] into %d values of stride %d", w.rows, w.k, n, j.x.k, len(dst), ldd))
	}
	if j.quantised(w) && j.x.panels == nil && n > 0 {
		panic("kernel: sliced activations with quantised weights")
	}
}

// quantised tells whether w is multiplied in int8.
func (j *matmulJob) quantised(w *Matrix) bool {
	return j.x.mode == Int8 && layouts[w.format].quant != nil
}

// minWork is the least number of multiply-adds worth a task of its own.
const minWork = 1 << 16

func (j *matmulJob) start() {
	if j.x.n == 0 {
		return
	}
	if j.picks != nil {
		j.units = len(j.picks)
	}
	chunks := (j.x.n + columnChunk - 1) / columnChunk
	unit := min(j.x.n, columnChunk) * j.x.k * tileRows
	share := (j.units*chunks + 4*j.pool.Threads() - 1) / (4 * j.pool.Threads())
	j.perRun = min(max(share, (minWork+unit-1)/unit, 1), max(1, minWork*16/unit))
	perChunk := (j.units + j.perRun - 1) / j.perRun
	j.pool.run(perChunk*chunks, j.pool.runMM)
	j.x, j.picks = Acts{}, nil
	clear(j.items)
}

func (j *matmulJob) run(worker, task int) {
	perChunk := (j.units + j.perRun - 1) / j.perRun
	c0 := task / perChunk * columnChunk
	c1 := min(c0+columnChunk, j.x.n)
	lo := task % perChunk * j.perRun
	hi := min(lo+j.perRun, j.units)
	buf := &j.pool.workers[worker].buf
	if j.picks != nil {
		j.runPicks(buf, lo, hi, c0, c1)
		return
	}
	for i := range j.items {
		it := &j.items[i]
		n := it.w.tiles()
		if lo < n && hi > 0 {
			j.tiles(buf, it, max(lo, 0), min(hi, n), c0, c1)
		}
		lo, hi = lo-n, hi-n
	}
}
