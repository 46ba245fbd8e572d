package kernel

import (
	"fmt"
	"sync/atomic"
)

// AttnSeq is the part of one sequence in a call of Attend: N query rows at positions
// Pos0, Pos0+1, ..., which are rows Row0, Row0+1, ... of q and dst. Pages are the
// sequence's pages from position 0; the keys and values of the queries' own
// positions are already in them. With a Window, the row at position p sees positions
// p-Window+1 to p only; 0 means all. Pages that no row sees are not read.
type AttnSeq struct {
	Pages         []*Page
	Pos0, N, Row0 int
	Window        int
}

// Attend computes causal attention for rows of q[rows, heads, dim] into dst of the
// same shape; scale multiplies the scores. dim is a multiple of 16, heads one of
// kvHeads. Rows that no sequence names are left alone.
//
// A page's contribution (maximum, sum, weighted values) does not depend on other
// pages; contributions merge in ascending order. So one worker may walk all pages of
// a block of rows (prompts, batches), or several may share them (one long sequence):
// the bits are the same.
func Attend(p *Pool, dst, q []float32, heads, kvHeads, dim int, scale float32, seqs []AttnSeq) {
	if kvHeads <= 0 || heads%kvHeads != 0 || dim <= 0 || dim%tileRows != 0 {
		panic(fmt.Sprintf("kernel: attention with %d heads, %d key heads of %d values", heads, kvHeads, dim))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	j := &p.att
	j.dst, j.q, j.group, j.kvHeads, j.dim, j.scale = dst, q, heads/kvHeads, kvHeads, dim, scale
	j.blocks, j.pages, j.columns = j.blocks[:0], 0, 0
	rows := max(1, attendColumns/j.group)
	for i := range seqs {
		j.add(&seqs[i], rows)
	}
	switch tasks := len(j.blocks) * kvHeads; {
	case j.columns*kvHeads <= aloneColumns:
		p.alone(tasks, p.runAtt)
	case tasks >= 3*p.Threads() || j.pages*kvHeads <= tasks || p.Threads() == 1:
		p.run(tasks, p.runAtt)
	default:
		j.split()
		p.run(j.parts*tasks, p.runPart)
	}
	j.dst, j.q = nil, nil
	clear(j.blocks)
}

// attendColumns is how many (row, head) columns share one pass over a page.
const attendColumns = 96

// aloneColumns is how many columns times pages one worker computes about as fast as
// several do, which first have to hand each other the queries and the newest keys.
const aloneColumns = 18

// attendBlock is a run of query rows of one sequence.
type attendBlock struct {
	pages     []*Page
	pos, n    int
	row       int
	window    int
	from, end int // pages that some row sees
}

// rows is which rows see something of a page.
func (b *attendBlock) rows(page int) (first, last int) {
	last = b.n
	if b.window > 0 {
		last = min(last, (page+1)*PageTokens+b.window-1-b.pos)
	}
	return max(0, page*PageTokens-b.pos), last
}

// slots is which slots of a page row r sees, of those that do.
func (b *attendBlock) slots(page, r int) (from, end int) {
	pos := b.pos + r - page*PageTokens
	if b.window > 0 {
		from = max(0, pos-b.window+1)
	}
	return from, min(pos+1, PageTokens)
}

type attendJob struct {
	pool           *Pool
	dst, q         []float32
	group, kvHeads int // query heads per key head
	dim            int
	scale          float32
	blocks         []attendBlock
	pages          int // used by all blocks
	columns        int // of all blocks, each times its pages

	// Pages shared between workers: parts tasks per block and key head, whose results
	// wait in slots, one per page, until the last of them has come.
	parts, width int
	slots        []partial
	missing      []atomic.Int32
}

func (j *attendJob) add(s *AttnSeq, rows int) {
	width := j.group * j.kvHeads * j.dim
	if s.N < 0 || s.Pos0 < 0 || s.Row0 < 0 || s.Window < 0 || len(j.q) < (s.Row0+s.N)*width || len(j.dst) < (s.Row0+s.N)*width || len(s.Pages)*PageTokens < s.Pos0+s.N {
		panic(fmt.Sprintf("kernel: attention over %d pages for %d rows at position %d, row %d of %d", len(s.Pages), s.N, s.Pos0, s.Row0, len(j.q)/width))
	}
	for r := 0; r < s.N; r += rows {
		b := attendBlock{pages: s.Pages, pos: s.Pos0 + r, n: min(rows, s.N-r), row: s.Row0 + r, window: s.Window}
		b.end = (b.pos + b.n + PageTokens - 1) / PageTokens
		if b.window > 0 {
			b.from = max(0, b.pos-b.window+1) / PageTokens
		}
		j.blocks = append(j.blocks, b)
		j.pages += b.end - b.from
		j.columns += (b.end - b.from) * b.n * j.group
	}
}

// run is one block of rows for one key head, all pages. Late blocks see most pages,
// so they come first.
func (j *attendJob) run(worker, task int) {
	b := &j.blocks[len(j.blocks)-1-task/j.kvHeads]
	head := task % j.kvHeads
	s := &j.pool.workers[worker].buf.att
	s.begin(b.n*j.group, j.dim)
	s.reset()
	j.gather(s, b, head)
	for page := b.from; page < b.end; page++ {
		j.page(s, &s.part, b, head, page)
		first, last := b.rows(page)
		s.merge(&s.part, first*j.group, last*j.group, j.dim)
	}
	j.scatter(s, b, head)
}

// gather copies the query columns of one key head next to each other.
func (j *attendJob) gather(s *attendScratch, b *attendBlock, head int) {
	n := j.group * j.dim
	for r := range b.n {
		copy(s.q[r*n:][:n], j.q[((b.row+r)*j.kvHeads+head)*n:])
	}
}

// scatter divides by the sums and writes the rows of one key head.
func (j *attendJob) scatter(s *attendScratch, b *attendBlock, head int) {
	for c := range b.n * j.group {
		scaleBy(s.acc[c*j.dim:][:j.dim], 1/s.sum[c])
	}
	n := j.group * j.dim
	for r := range b.n {
		copy(j.dst[((b.row+r)*j.kvHeads+head)*n:][:n], s.acc[r*n:])
	}
}

// page computes one page's contribution for the columns that see something of it.
func (j *attendJob) page(s *attendScratch, out *partial, b *attendBlock, head, page int) {
	dim := j.dim
	first, last := b.rows(page)
	_, seen := b.slots(page, last-1)
	first, last = first*j.group, last*j.group
	pg := b.pages[page]
	keys, values := part(pg.K, head, dim), part(pg.V, head, dim)
	var next []uint16
	if page+1 < b.end {
		next = part(b.pages[page+1].K, head, dim)
	}
	scores := s.scores[first*PageTokens:]
	s.product(scores, PageTokens, keys, PageTokens, (seen+tileRows-1)/tileRows, s.q[first*dim:], dim, dim, last-first, values)
	for c := first; c < last; c++ {
		from, end := b.slots(page, c/j.group)
		out.top[c], out.sum[c] = softChunk(s.scores[c*PageTokens:][:PageTokens], from, end, j.scale)
	}
	s.product(out.values[first*dim:], dim, values, dim, dim/tileRows, scores, PageTokens, seen, last-first, next)
}

// part is the keys or the values of one key head.
func part(page []uint16, head, dim int) []uint16 {
	return page[head*dim*PageTokens:][:dim*PageTokens]
}
