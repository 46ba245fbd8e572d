package kernel

import (
	"fmt"
	"math"
	"sync/atomic"
)

// AttnSeq is the part of one sequence in a call of Attend: N query rows at positions
// Pos0, Pos0+1, ..., which are rows Row0, Row0+1, ... of q and dst. Pages are the
// sequence's pages from position 0; the keys and values of the queries' own
// positions are already in them.
type AttnSeq struct {
	Pages         []*Page
	Pos0, N, Row0 int
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
	j.blocks, j.pages = j.blocks[:0], 0
	rows := max(1, attendColumns/j.group)
	for i := range seqs {
		j.add(&seqs[i], rows)
	}
	if tasks := len(j.blocks) * kvHeads; tasks >= 3*p.Threads() || j.pages*kvHeads <= tasks || p.Threads() == 1 {
		p.run(tasks, p.runAtt)
	} else {
		j.split()
		p.run(j.parts*tasks, p.runPart)
	}
	j.dst, j.q = nil, nil
	clear(j.blocks)
}

// attendColumns is how many (row, head) columns share one pass over a page.
const attendColumns = 96

// attendBlock is a run of query rows of one sequence.
type attendBlock struct {
	pages  []*Page
	pos, n int
	row    int
}

// used is the number of pages that the block's last row sees.
func (b *attendBlock) used() int { return (b.pos + b.n + PageTokens - 1) / PageTokens }

type attendJob struct {
	pool           *Pool
	dst, q         []float32
	group, kvHeads int // query heads per key head
	dim            int
	scale          float32
	blocks         []attendBlock
	pages          int // used by all blocks

	// Pages shared between workers: parts tasks per block and key head, whose results
	// wait in slots, one per page, until the last of them has come.
	parts, width int
	slots        []partial
	missing      []atomic.Int32
}

func (j *attendJob) add(s *AttnSeq, rows int) {
	width := j.group * j.kvHeads * j.dim
	if s.N < 0 || s.Pos0 < 0 || s.Row0 < 0 || len(j.q) < (s.Row0+s.N)*width || len(j.dst) < (s.Row0+s.N)*width || len(s.Pages)*PageTokens < s.Pos0+s.N {
		panic(fmt.Sprintf("kernel: attention over %d pages for %d rows at position %d, row %d of %d", len(s.Pages), s.N, s.Pos0, s.Row0, len(j.q)/width))
	}
	for r := 0; r < s.N; r += rows {
		b := attendBlock{s.Pages, s.Pos0 + r, min(rows, s.N-r), s.Row0 + r}
		j.blocks = append(j.blocks, b)
		j.pages += b.used()
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
	for page := range b.used() {
		first := j.page(s, &s.part, b, head, page)
		s.merge(&s.part, first, j.dim)
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

// page computes one page's contribution for the columns from first on; earlier ones
// lie before the page and see nothing of it.
func (j *attendJob) page(s *attendScratch, out *partial, b *attendBlock, head, page int) (first int) {
	dim, columns := j.dim, b.n*j.group
	before := max(0, page*PageTokens-b.pos) // rows before the page
	first = before * j.group
	seen := min(b.pos+b.n-page*PageTokens, PageTokens)
	pg := b.pages[page]
	keys, values := part(pg.K, head, dim), part(pg.V, head, dim)
	var next []uint16
	if page+1 < b.used() {
		next = part(b.pages[page+1].K, head, dim)
	}
	scores := s.scores[first*PageTokens:]
	s.product(scores, PageTokens, keys, PageTokens, (seen+tileRows-1)/tileRows, s.q[first*dim:], dim, dim, columns-first, values)
	for c := first; c < columns; c++ {
		valid := min(b.pos+c/j.group-page*PageTokens+1, PageTokens)
		out.top[c], out.sum[c] = softChunk(s.scores[c*PageTokens:][:PageTokens], valid, j.scale)
	}
	s.product(out.values[first*dim:], dim, values, dim, dim/tileRows, scores, PageTokens, seen, columns-first, next)
	return first
}

// part is the keys or the values of one key head.
func part(page []uint16, head, dim int) []uint16 {
	return page[head*dim*PageTokens:][:dim*PageTokens]
}

var minusInf = float32(math.Inf(-1))
