package kernel

import (
	"fmt"
	"math"
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
func Attend(p *Pool, dst, q []float32, heads, kvHeads, dim int, scale float32, seqs []AttnSeq) {
	if kvHeads <= 0 || heads%kvHeads != 0 || dim <= 0 || dim%tileRows != 0 {
		panic(fmt.Sprintf("kernel: attention with %d heads, %d key heads of %d values", heads, kvHeads, dim))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	j := &p.att
	j.dst, j.q, j.heads, j.kvHeads, j.dim, j.scale = dst, q, heads, kvHeads, dim, scale
	j.blocks = j.blocks[:0]
	rows := max(1, attendColumns/(heads/kvHeads))
	for i := range seqs {
		j.add(&seqs[i], rows)
	}
	p.run(len(j.blocks)*kvHeads, p.runAtt)
	j.dst, j.q = nil, nil
	clear(j.blocks)
}

// attendColumns is how many (row, head) columns share one pass over a page.
const attendColumns = 48

// attendBlock is a run of query rows of one sequence.
type attendBlock struct {
	pages   []*Page
	pos, n  int
	row     int
	columns int
}

type attendJob struct {
	pool           *Pool
	dst, q         []float32
	heads, kvHeads int
	dim            int
	scale          float32
	blocks         []attendBlock
}

// attendScratch is one worker's state for a block of columns of one key head.
type attendScratch struct {
	q, scores, part, acc []float32 // [columns, dim], [columns, 64], [columns, dim] twice
	top, sum             []float32 // per column: running maximum and sum
	keep, gain           []float32 // per column: factors of the old result and of this page
	valid                []int     // per column: positions of the page it may see
	k, v                 []float32 // the page, widened
}

func (j *attendJob) add(s *AttnSeq, rows int) {
	width := j.heads * j.dim
	if s.N < 0 || s.Pos0 < 0 || s.Row0 < 0 || len(j.q) < (s.Row0+s.N)*width || len(j.dst) < (s.Row0+s.N)*width || len(s.Pages)*PageTokens < s.Pos0+s.N {
		panic(fmt.Sprintf("kernel: attention over %d pages for %d rows at position %d, row %d of %d", len(s.Pages), s.N, s.Pos0, s.Row0, len(j.q)/width))
	}
	for r := 0; r < s.N; r += rows {
		n := min(rows, s.N-r)
		j.blocks = append(j.blocks, attendBlock{s.Pages, s.Pos0 + r, n, s.Row0 + r, n * (j.heads / j.kvHeads)})
	}
}

// run is one block of rows for one key head. Late blocks see most pages, so they
// come first.
func (j *attendJob) run(worker, task int) {
	b := &j.blocks[len(j.blocks)-1-task/j.kvHeads]
	head := task % j.kvHeads
	s := &j.pool.workers[worker].buf.att
	s.begin(b.columns, j.dim)
	j.gather(s, b, head)
	for page := 0; page*PageTokens < b.pos+b.n; page++ {
		j.page(s, b, head, page)
	}
	j.scatter(s, b, head)
}

func (s *attendScratch) begin(columns, dim int) {
	s.q, s.acc = grow(s.q, columns*dim), grow(s.acc, columns*dim)
	s.part, s.scores = grow(s.part, columns*dim), grow(s.scores, columns*PageTokens)
	s.keep, s.gain = grow(s.keep, columns), grow(s.gain, columns)
	s.top, s.sum, s.valid = grow(s.top, columns), grow(s.sum, columns), grow(s.valid, columns)
	clear(s.acc)
	clear(s.sum)
	for i := range s.top {
		s.top[i] = float32(math.Inf(-1))
	}
}

// gather copies the query columns of one key head next to each other.
func (j *attendJob) gather(s *attendScratch, b *attendBlock, head int) {
	group := j.heads / j.kvHeads * j.dim
	for r := range b.n {
		copy(s.q[r*group:][:group], j.q[(b.row+r)*j.heads*j.dim+head*group:])
	}
}

// page adds one page to the running result: scores, their softmax within the page,
// the weighted sum of values, and the merge. A page before the first row is seen
// whole; a column whose row lies before the page sees nothing of it.
func (j *attendJob) page(s *attendScratch, b *attendBlock, head, page int) {
	group, dim := j.heads/j.kvHeads, j.dim
	first, seen := 0, 0
	for c := range b.columns {
		s.valid[c] = min(max(b.pos+c/group-page*PageTokens+1, 0), PageTokens)
		if s.valid[c] == 0 {
			first = c + 1
		}
		seen = s.valid[c]
	}
	cols := b.columns - first
	pg := b.pages[page]
	j.product(s.scores[first*PageTokens:], PageTokens, pg.K[head*dim*PageTokens:][:dim*PageTokens], PageTokens, (seen+tileRows-1)/tileRows, s.q[first*dim:], dim, dim, cols, &s.k)
	for c := first; c < b.columns; c++ {
		top, sum := softChunk(s.scores[c*PageTokens:][:PageTokens], s.valid[c], j.scale)
		s.fold(c, top, sum)
	}
	j.product(s.part[first*dim:], dim, pg.V[head*PageTokens*dim:][:PageTokens*dim], dim, dim/tileRows, s.scores[first*PageTokens:], PageTokens, seen, cols, &s.v)
	for c := first; c < b.columns; c++ {
		merge(s.acc[c*dim:][:dim], s.part[c*dim:][:dim], s.keep[c], s.gain[c])
	}
}
