package kernel

// widenFrom is the number of columns from which a page is worth widening to float32
// once instead of in every product.
const widenFrom = 12

// product multiplies tiles of 16 lanes of a page, w[k*ldw + lane], with columns x.
func (j *attendJob) product(dst []float32, ldd int, w []uint16, ldw, tiles int, x []float32, ldx, k, cols int, wide *[]float32) {
	if cols < widenFrom {
		for t := range tiles {
			gemmF16(dst[t*tileRows:], ldd, w[t*tileRows:], ldw, x, ldx, k, cols, nil)
		}
		return
	}
	*wide = grow(*wide, len(w))
	floats((*wide)[:k*ldw], w[:k*ldw])
	for t := range tiles {
		gemmF32(dst[t*tileRows:], ldd, (*wide)[t*tileRows:], ldw, x, ldx, k, cols, nil)
	}
}

// fold takes a page's maximum and sum of column c into the running ones, and keeps
// the factors for merge.
func (s *attendScratch) fold(c int, top, sum float32) {
	was := s.top[c]
	s.top[c] = max(was, top)
	s.keep[c], s.gain[c] = exp32(was-s.top[c]), exp32(top-s.top[c])
	s.sum[c] = fma32(s.sum[c], s.keep[c], float32(sum*s.gain[c]))
}

// scatter divides by the sums and writes the rows of one key head.
func (j *attendJob) scatter(s *attendScratch, b *attendBlock, head int) {
	group := j.heads / j.kvHeads * j.dim
	for c := range b.columns {
		inv := 1 / s.sum[c]
		for i, v := range s.acc[c*j.dim:][:j.dim] {
			s.acc[c*j.dim+i] = v * inv
		}
	}
	for r := range b.n {
		copy(j.dst[(b.row+r)*j.heads*j.dim+head*group:][:group], s.acc[r*group:])
	}
}

// softChunkRef scales one page's scores, takes the maximum over the first valid ones
// (at least one), replaces them by exp(score - maximum) and the others by 0, and
// returns the maximum and the sum.
func softChunkRef(s []float32, valid int, scale float32) (top, sum float32) {
	for i := range s[:valid] {
		s[i] *= scale
	}
	top = maxOfRef(s[:valid])
	clear(s[valid:])
	var lanes [8]float32
	for i, v := range s[:valid] {
		s[i] = exp32(v - top)
		lanes[i&7] += s[i]
	}
	return top, fold8(&lanes)
}

// mergeRef is acc = acc*keep + part*gain, fused as fma(acc, keep, part*gain).
func mergeRef(acc, part []float32, keep, gain float32) {
	for i, v := range part {
		acc[i] = fma32(acc[i], keep, float32(v*gain))
	}
}
