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
// added to, and may be those of other sequences of the call too (branches of one prefix).
type AttnGrad struct {
	AttnSeq
	Exact  []ExactPage // in place of Pages
	From   int
	DK, DV []float32
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
	p.Run(kvHeads, func(_, head int) { j.reduce(head) })
	j.dQ, j.q, j.att, j.dAtt, j.seqs = nil, nil, nil, nil, nil
}

// backRows is how many rows share one pass over a page.
const backRows = 64

// attendBackJob is the call in progress.
type attendBackJob struct {
	mu                  sync.Mutex
	dQ, q, att, dAtt    []float32
	heads, kvHeads, dim int
	scale               float32
	seqs                []AttnGrad
	starts              []int     // where the parts of a sequence begin
	parts               []float32 // [heads][Pos0+N-From][dK, dV][dim] of each sequence
}

// lay checks the sequences and makes room for what each head adds.
func (j *attendBackJob) lay() {
	rows, total := len(j.q)/(j.heads*j.dim), 0
	j.starts = j.starts[:0]
	for i := range j.seqs {
		s := &j.seqs[i]
		if pages := max(len(s.Pages), len(s.Exact)); s.N < 0 || s.Pos0 < 0 || s.Row0 < 0 || s.Window < 0 || s.Row0+s.N > rows || pages*PageTokens < s.Pos0+s.N {
			panic(fmt.Sprintf("kernel: gradient of attention over %d pages for %d rows at position %d, row %d of %d", pages, s.N, s.Pos0, s.Row0, rows))
		}
		n := s.Pos0 + s.N - s.From
		if width := j.kvHeads * j.dim; s.From < 0 || n < 0 || len(s.DK) < n*width || len(s.DV) < n*width {
			panic(fmt.Sprintf("kernel: gradients of keys and values from position %d to %d into %d and %d values", s.From, s.Pos0+s.N, len(s.DK), len(s.DV)))
		}
		j.starts = append(j.starts, total)
		total += j.heads * n * 2 * j.dim
	}
	j.parts = grow(j.parts, total)
}

// part is [Pos0+N-From][dK, dV][dim] of one sequence and query head.
func (j *attendBackJob) part(seq, head int) []float32 {
	s := &j.seqs[seq]
	n := (s.Pos0 + s.N - s.From) * 2 * j.dim
	return j.parts[j.starts[seq]+head*n:][:n]
}

// reduce adds what the query heads of a key head found.
func (j *attendBackJob) reduce(kvHead int) {
	group, width := j.heads/j.kvHeads, j.kvHeads*j.dim
	for i := range j.seqs {
		s := &j.seqs[i]
		for head := kvHead * group; head < (kvHead+1)*group; head++ {
			part, at := j.part(i, head), kvHead*j.dim
			for ; len(part) > 0; part, at = part[2*j.dim:], at+width {
				addTo(s.DK[at:at+j.dim], part[:j.dim])
				addTo(s.DV[at:at+j.dim], part[j.dim:2*j.dim])
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
