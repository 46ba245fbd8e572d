package kernel

// attendBackScratch is one worker's state for one query head of a sequence. N rows are
// padded to a multiple of 16 lanes; a padded row has no probability of anything.
type attendBackScratch struct {
	seq                *AttnGrad
	heads, kvHeads     int
	dim, padded        int
	scale              float32
	q, dAtt            []float32 // [n, dim]
	qT, dAttT, dQT     []float32 // [dim, padded]
	top, inv, d        []float32 // [padded]: of a row, the largest score, 1/sum, D
	keep, gain         []float32 // [padded]
	pageTop, pageSum   []float32 // [padded]
	k, kT, v           []float32 // of the page: [dim, 64], [64, dim], [64, dim]
	scores, probs, dps []float32 // [n, 64]; of a block, [64, backRows] twice
}

// begin gathers the rows of one head.
func (b *attendBackScratch) begin(j *attendBackJob, s *AttnGrad, head int) {
	b.seq, b.heads, b.kvHeads, b.dim, b.scale = s, j.heads, j.kvHeads, j.dim, j.scale
	n, dim := s.N, j.dim
	b.padded = (n + tileRows - 1) &^ (tileRows - 1)
	b.q, b.dAtt = grow(b.q, n*dim), grow(b.dAtt, n*dim)
	b.qT, b.dAttT, b.dQT = grow(b.qT, dim*b.padded), grow(b.dAttT, dim*b.padded), grow(b.dQT, dim*b.padded)
	for _, x := range []*[]float32{&b.top, &b.inv, &b.d, &b.keep, &b.gain, &b.pageTop, &b.pageSum} {
		*x = grow(*x, b.padded)
		clear(*x)
	}
	b.scores, b.probs, b.dps = grow(b.scores, n*PageTokens), grow(b.probs, PageTokens*backRows), grow(b.dps, PageTokens*backRows)
	b.k, b.kT, b.v = grow(b.k, dim*PageTokens), grow(b.kT, dim*PageTokens), grow(b.v, dim*PageTokens)
	clear(b.qT)
	clear(b.dAttT)
	clear(b.dQT)
	for i := range n {
		at := ((s.Row0+i)*j.heads + head) * dim
		copy(b.q[i*dim:][:dim], j.q[at:])
		copy(b.dAtt[i*dim:][:dim], j.dAtt[at:])
		b.top[i], b.d[i] = nothing, dot(j.dAtt[at:][:dim], j.att[at:][:dim])
	}
	transpose(b.qT, b.padded, b.q, dim, n, dim)
	transpose(b.dAttT, b.padded, b.dAtt, dim, n, dim)
}

// dotLanesRef is a dot product in eight lanes.
func dotLanesRef(x, y []float32) float32 {
	var lanes [8]float32
	for i, v := range x {
		lanes[i&7] = fma32(v, y[i], lanes[i&7])
	}
	return fold8(&lanes)
}

// load widens the keys and values of one page.
func (b *attendBackScratch) load(s *AttnGrad, kvHead, page int) {
	dim, width := b.dim, b.kvHeads*b.dim
	if s.Exact == nil {
		floats(b.k, part(s.Pages[page].K, kvHead, dim))
		floats(b.v, part(s.Pages[page].V, kvHead, dim))
		transpose(b.kT, dim, b.k, PageTokens, dim, PageTokens)
		return
	}
	exact := &s.Exact[page]
	for t := range min(PageTokens, s.Pos0+s.N-page*PageTokens) {
		copy(b.kT[t*dim:][:dim], exact.K[t*width+kvHead*dim:])
		copy(b.v[t*dim:][:dim], exact.V[t*width+kvHead*dim:])
	}
	transpose(b.k, PageTokens, b.kT, dim, PageTokens, dim)
}

// block is the rows as Attend sees them.
func (b *attendBackScratch) block() attendBlock {
	return attendBlock{pos: b.seq.Pos0, n: b.seq.N, window: b.seq.Window}
}

// stats takes a page's scores into the largest score and the sum of every row, as Attend
// does.
func (b *attendBackScratch) stats(page int) {
	rows := b.block()
	first, last := rows.rows(page)
	_, seen := rows.slots(page, last-1)
	for t := 0; t < seen; t += tileRows {
		gemmF32(b.scores[first*PageTokens+t:], PageTokens, b.k[t:], PageTokens, b.q[first*b.dim:], b.dim, b.dim, last-first, nil)
	}
	for i := range b.padded {
		b.pageTop[i], b.pageSum[i] = minusInf, 0
	}
	for i := first; i < last; i++ {
		from, end := rows.slots(page, i)
		b.pageTop[i], b.pageSum[i] = softChunk(b.scores[i*PageTokens:][:PageTokens], from, end, b.scale)
	}
	fold(b.top, b.inv, b.pageTop, b.pageSum, b.keep, b.gain)
}

// finish turns sums into factors; padded rows get none.
func (b *attendBackScratch) finish() {
	for i := range b.inv {
		if i < b.seq.N {
			b.inv[i] = 1 / b.inv[i]
		} else {
			b.top[i], b.inv[i] = 0, 0
		}
	}
}

// page adds what rows [r, r+backRows) give for a page: to dQT, and to the gradients of
// its keys and values, which are in part from position From on.
func (b *attendBackScratch) page(page, r int, part []float32) {
	s, rows, dim := b.seq, b.block(), b.dim
	first, last := rows.rows(page)
	first, last = max(first, r), min(last, r+backRows)
	if first >= last {
		return
	}
	_, seen := rows.slots(page, last-1)
	lo := r + (first-r)&^(tileRows-1) // whole tiles of lanes
	lanes := (last - lo + tileRows - 1) &^ (tileRows - 1)
	for t := 0; t < lanes; t += tileRows {
		gemmF32(b.probs[t:], backRows, b.qT[lo+t:], b.padded, b.kT, dim, dim, seen, nil)
		gemmF32(b.dps[t:], backRows, b.dAttT[lo+t:], b.padded, b.v, dim, dim, seen, nil)
	}
	for t := range seen {
		b.soften(t, page*PageTokens+t-s.Pos0-lo, lo, lanes)
	}
	for t := 0; t < lanes; t += tileRows {
		gemmF32(b.dQT[lo+t:], b.padded, b.dps[t:], backRows, b.k, PageTokens, seen, dim, &one)
	}
	if skip := max(0, s.From-page*PageTokens); skip < seen {
		b.keysValues(part[(page*PageTokens+skip-s.From)*2*dim:], lo, min(lo+lanes, s.N)-lo, skip, seen)
	}
}

var one = float32(1)

// soften turns scores and dP of slot t into p and dS, lane by lane. Lanes begin at row
// lo; those from the row of the slot's own position on see it, self counts from lo.
func (b *attendBackScratch) soften(t, self, lo, lanes int) {
	p, ds := b.probs[t*backRows:][:lanes], b.dps[t*backRows:][:lanes]
	softBack(p, ds, b.top[lo:][:lanes], b.inv[lo:][:lanes], b.d[lo:][:lanes], b.scale)
	if self > 0 {
		hidden := min(self, lanes)
		clear(p[:hidden])
		clear(ds[:hidden])
	}
	if w := b.seq.Window; w > 0 && self+w < lanes {
		from := max(0, self+w)
		clear(p[from:])
		clear(ds[from:])
	}
}

// keysValues adds p^T dAtt and dS^T q of n rows from lo on for slots [skip, seen).
func (b *attendBackScratch) keysValues(part []float32, lo, n, skip, seen int) {
	dim := b.dim
	for c := 0; c < dim; c += tileRows {
		gemmF32(part[c:], 2*dim, b.q[lo*dim+c:], dim, b.dps[skip*backRows:], backRows, n, seen-skip, &one)
		gemmF32(part[dim+c:], 2*dim, b.dAtt[lo*dim+c:], dim, b.probs[skip*backRows:], backRows, n, seen-skip, &one)
	}
}

// scatter writes dQ.
func (b *attendBackScratch) scatter(dQ []float32, row0, head int) {
	width := b.heads * b.dim
	transpose(dQ[row0*width+head*b.dim:], width, b.dQT, b.padded, b.dim, b.seq.N)
}

// softBackRef replaces scores s by p = exp(s*scale - top) * inv, and dP by
// p*(dP-d)*scale.
func softBackRef(s, dp, top, inv, d []float32, scale float32) {
	for i, v := range s {
		p := float32(exp32(float32(v*scale)-top[i]) * inv[i])
		s[i], dp[i] = p, float32(float32(p*(dp[i]-d[i]))*scale)
	}
}
