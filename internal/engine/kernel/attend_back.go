package kernel

import (
	"fmt"
	"sync"
)

// ExactPage holds the keys and values of 64 positions of one layer in single precision,
// K and V [position, kvHeads, dim].
type ExactPage struct{ K, V []float32 }

// AttnGrad is the part of one sequence in a call of AttendBack. Gradients of keys and
// values are wanted from position From on: DK and DV [Pos0+N-From, kvHeads, dim] are
// added to, and may be those of other sequences of the call with the same From (branches
// of one prefix). With OwnK and OwnV [N, kvHeads, dim] those of the rows' own positions
// are added there, and DK and DV are [Pos0-From, kvHeads, dim].
type AttnGrad struct {
	AttnSeq
	Exact      []ExactPage // in place of Pages
	From       int         // at most Pos0, if there is an own part
	DK, DV     []float32
	OwnK, OwnV []float32
}

// AttendBack gives the gradients of Attend from the one of its result: for rows of dAtt
// [rows, heads, dim], with the queries q that Attend had and its result att, dQ of the
// same shape is written; those of keys and values are added up. dQ may be dAtt. Rows that
// no sequence names are left alone.
//
// With p = exp(score - top) / sum of a row and head, score, top and sum as in Attend, D =
// sum(dAtt*att) and dP = dAtt V^T:
//
//	dV += p^T dAtt    dS = p * (dP - D) * scale    dQ = dS K    dK += dS^T q
//
// Order: a query head by itself, pages ascending, in a page blocks of backRows rows
// ascending; sums of products and additions as in gemm_ref.go, D in eight lanes. Then
// the heads of a key head ascending, sequence after sequence.
func AttendBack(p *Pool, dQ, q, att, dAtt []float32, heads, kvHeads, dim int, scale float32, seqs []AttnGrad) {
	if kvHeads <= 0 || heads%kvHeads != 0 || dim <= 0 || dim%tileRows != 0 || len(att) != len(q) || len(dAtt) != len(q) || len(dQ) != len(q) {
		panic(fmt.Sprintf("kernel: gradient of attention with %d heads, %d key heads of %d values over %d, %d and %d", heads, kvHeads, dim, len(q), len(att), len(dAtt)))
	}
	j := &p.attBack
	j.mu.Lock()
	defer j.mu.Unlock()
	j.dQ, j.q, j.att, j.dAtt = dQ, q, att, dAtt
	j.heads, j.kvHeads, j.dim, j.scale, j.seqs = heads, kvHeads, dim, scale, seqs
	j.lay()
	p.Run(len(seqs)*heads, func(worker, task int) { j.run(&p.workers[worker].buf.attBack, task/heads, task%heads) })
	p.Run((j.end+reducePositions-1)/reducePositions, func(_, task int) {
		j.reduce(task*reducePositions, (task+1)*reducePositions)
	})
	j.dQ, j.q, j.att, j.dAtt, j.seqs = nil, nil, nil, nil, nil
}

const (
	backRows        = 64 // rows that share one pass over a page
	reducePositions = 32 // whose sums over heads and sequences are one task
)

// attendBackJob is the call in progress.
type attendBackJob struct {
	mu                  sync.Mutex
	dQ, q, att, dAtt    []float32
	heads, kvHeads, dim int
	scale               float32
	seqs                []AttnGrad
	end                 int       // the last position of all, and one
	starts              []int     // where the parts of a sequence begin
	parts               []float32 // [heads][Pos0+N-From][dK, dV][dim] of each sequence
}

// lay checks the sequences and makes room for what each head adds.
func (j *attendBackJob) lay() {
	rows, total := len(j.q)/(j.heads*j.dim), 0
	j.starts, j.end = j.starts[:0], 0
	for i := range j.seqs {
		s := &j.seqs[i]
		if pages := max(len(s.Pages), len(s.Exact)); s.N < 0 || s.Pos0 < 0 || s.Row0 < 0 || s.Window < 0 || s.Row0+s.N > rows || pages*PageTokens < s.Pos0+s.N {
			panic(fmt.Sprintf("kernel: gradient of attention over %d pages for %d rows at position %d, row %d of %d", pages, s.N, s.Pos0, s.Row0, rows))
		}
		n := s.Pos0 + s.N - s.From
		if !s.fits(j.kvHeads * j.dim) {
			panic(fmt.Sprintf("kernel: gradients of keys and values from position %d to %d into %d and %d values, and %d and %d", s.From, s.Pos0+s.N, len(s.DK), len(s.DV), len(s.OwnK), len(s.OwnV)))
		}
		j.end = max(j.end, s.Pos0+s.N)
		j.starts = append(j.starts, total)
		total += j.heads * n * 2 * j.dim
	}
	j.parts = grow(j.parts, total)
}

// fits tells whether there is a place for every gradient.
func (s *AttnGrad) fits(width int) bool {
	n := s.Pos0 + s.N - s.From
	if s.OwnK != nil {
		n -= s.N
		if len(s.OwnK) < s.N*width || len(s.OwnV) < s.N*width {
			return false
		}
	}
	return s.From >= 0 && n >= 0 && len(s.DK) >= n*width && len(s.DV) >= n*width
}

// place is where the gradients of a position are added.
func (s *AttnGrad) place(pos, width int) (dk, dv []float32) {
	if s.OwnK != nil && pos >= s.Pos0 {
		return s.OwnK[(pos-s.Pos0)*width:][:width], s.OwnV[(pos-s.Pos0)*width:][:width]
	}
	return s.DK[(pos-s.From)*width:][:width], s.DV[(pos-s.From)*width:][:width]
}

// part is [Pos0+N-From][dK, dV][dim] of one sequence and query head.
func (j *attendBackJob) part(seq, head int) []float32 {
	s := &j.seqs[seq]
	n := (s.Pos0 + s.N - s.From) * 2 * j.dim
	return j.parts[j.starts[seq]+head*n:][:n]
}

// reduce adds what the query heads of a key head found for positions [lo, hi).
func (j *attendBackJob) reduce(lo, hi int) {
	group, width, step := j.heads/j.kvHeads, j.kvHeads*j.dim, 2*j.dim
	for i := range j.seqs {
		s := &j.seqs[i]
		from, end := max(lo, s.From), min(hi, s.Pos0+s.N)
		for head := range j.heads {
			part, at := j.part(i, head), head/group*j.dim
			for pos := from; pos < end; pos++ {
				dk, dv := s.place(pos, width)
				found := part[(pos-s.From)*step:][:step]
				addTo(dk[at:at+j.dim], found[:j.dim])
				addTo(dv[at:at+j.dim], found[j.dim:])
			}
		}
	}
}

// run is one query head of one sequence.
func (j *attendBackJob) run(b *attendBackScratch, seq, head int) {
	s := &j.seqs[seq]
	if s.N == 0 {
		return
	}
	part := j.part(seq, head)
	clear(part)
	b.begin(j, s, head)
	first := 0
	if s.Window > 0 {
		first = max(0, s.Pos0-s.Window+1) / PageTokens
	}
	end := (s.Pos0 + s.N + PageTokens - 1) / PageTokens
	for page := first; page < end; page++ {
		b.load(s, head/(j.heads/j.kvHeads), page)
		b.stats(page)
	}
	b.finish()
	for page := first; page < end; page++ {
		b.load(s, head/(j.heads/j.kvHeads), page)
		for r := 0; r < s.N; r += backRows {
			b.page(page, r, part)
		}
	}
	b.scatter(j.dQ, s.Row0, head)
}
