package kernel

// matmulJob is the dispatch in progress. The unit of work is a tile of rows times a
// chunk of columns; a product's units are all tiles for the first chunk, then for the
// next. Units of all products stand in one line, and a task is a stretch of it.
type matmulJob struct {
	pool   *Pool
	items  []item
	starts []int // first unit of each task, and the end of the line
	units  int
	cost   int
	low    lowJob
}

// item is a product and its place in the line of units.
type item struct {
	Product
	first, units int
	across       int // units per chunk of columns
	chunk        int // columns in a chunk
	cost         int // of a unit, in int8 multiply-adds
}

// A chunk of columns is what one task takes at most: it keeps the panels in the
// second-level cache and one call below 100 µs.
const (
	quantColumns = 256
	floatColumns = 96
)

// A task is worth handing over from minCost on, about a microsecond. A float
// multiply-add costs floatCost of the int8 kind.
const (
	minCost   = 1 << 16
	maxCost   = 1 << 21
	floatCost = 4
)

func (j *matmulJob) begin() {
	j.items, j.starts, j.units, j.cost = j.items[:0], j.starts[:0], 0, 0
	j.low.begin()
}

func (j *matmulJob) add(pr Product) {
	it := newItem(pr, j.units)
	if it.units == 0 {
		return
	}
	j.low.add(&it.Product)
	j.items = append(j.items, it)
	j.units += it.units
	j.cost += it.units * it.cost
}

// newItem checks a product and places it at a unit of the line.
func newItem(pr Product, first int) item {
	if pr.Stride == 0 {
		pr.Stride = pr.W.rows
	}
	pr.check()
	n := pr.X.n
	it := item{Product: pr, first: first, across: pr.W.tiles(), chunk: floatColumns}
	if pr.picks != nil {
		it.across = len(pr.picks)
	}
	factor := floatCost
	if it.quantised() {
		it.chunk, factor = quantColumns, 1
	}
	it.units = it.across * ((n + it.chunk - 1) / it.chunk)
	it.cost = min(n, it.chunk) * pr.W.k * tileRows * factor
	return it
}

// start cuts the line into tasks of about equal cost, a few per thread, and runs them.
func (j *matmulJob) start() {
	j.cut(j.tasks())
	j.low.open()
	j.pool.run(len(j.starts)-1, j.pool.runMM)
	clear(j.items) // keep no caller's memory
	clear(j.low.items)
}

// tasks is into how many tasks the line is cut: a multiple of the threads, so that
// they end together, unless there is too little to share.
func (j *matmulJob) tasks() int {
	threads := j.pool.Threads()
	switch {
	case j.cost < 2*minCost:
		return 1
	case j.cost < threads*minCost:
		return j.cost / minCost
	}
	return threads * max(min(j.cost/(threads*minCost), 4), (j.cost+threads*maxCost-1)/(threads*maxCost))
}

// cut fills starts: task i ends at the unit nearest to (i+1)/n of the cost.
func (j *matmulJob) cut(n int) {
	j.starts = append(j.starts, 0)
	done := 0
	for i := range j.items {
		it := &j.items[i]
		for u := 0; u < it.units; {
			end := j.cost / n * len(j.starts)
			if len(j.starts) >= n {
				end = j.cost
			}
			take := min(max((end-done+it.cost/2)/it.cost, 1), it.units-u)
			u += take
			if done += take * it.cost; done+it.cost/2 >= end {
				j.starts = append(j.starts, it.first+u)
			}
		}
	}
	if j.starts[len(j.starts)-1] != j.units {
		j.starts = append(j.starts, j.units)
	}
}

func (j *matmulJob) run(worker, task int) {
	buf := &j.pool.workers[worker].buf
	lo, hi := j.starts[task], j.starts[task+1]
	if j.low.units == 0 {
		for i := range j.items {
			j.items[i].each(buf, lo, hi, (*item).tiles)
		}
		return
	}
	for i := range j.items {
		j.items[i].each(buf, lo, hi, (*item).fetchLow)
	}
	j.low.run(buf)
	for i := range j.items {
		j.items[i].each(buf, lo, hi, (*item).tiles)
	}
	j.low.wait()
	for i := range j.items {
		j.items[i].each(buf, lo, hi, (*item).addLow)
	}
}

// each calls f for the item's units among [lo, hi) of the line, one chunk of columns at
// a time.
func (it *item) each(buf *scratch, lo, hi int, f func(it *item, buf *scratch, t0, t1, c0, c1 int)) {
	u, end := max(lo-it.first, 0), min(hi-it.first, it.units)
	for u < end {
		c0, t0 := u/it.across*it.chunk, u%it.across
		t1 := min(t0+end-u, it.across)
		f(it, buf, t0, t1, c0, min(c0+it.chunk, it.X.n))
		u += t1 - t0
	}
}
