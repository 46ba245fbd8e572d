package sample

import (
	"cmp"
	"math"
	"slices"
)

// Sampler chooses tokens; it holds scratch memory only and serves one goroutine.
type Sampler struct {
	undo []change
	cand []candidate
}

// candidate is a token with its logit and weight, exp of the logit less the maximum.
type candidate struct {
	id     int32
	logit  float32
	weight float64
}

// Pick chooses the token at a position from its logits, one per vocabulary entry. The
// row is the same again when Pick returns.
func (s *Sampler) Pick(logits []float32, p Params, h *History, position int) int32 {
	if h != nil && p.penalised() {
		s.undo = h.penalise(logits, p, s.undo[:0])
		defer s.restore(logits)
	}
	best := argMax(logits)
	if p.Temperature == 0 {
		return best
	}
	u := Uniform(p.Seed, uint64(position))
	scale, top := float32(1/p.Temperature), logits[best]
	if p.TopK == 0 && (p.TopP == 0 || p.TopP == 1) && p.MinP == 0 {
		return drawAll(logits, top, scale, u)
	}
	return draw(s.truncate(logits, top, scale, p), u)
}

func (s *Sampler) restore(logits []float32) {
	for _, c := range s.undo {
		logits[c.id] = c.logit
	}
}

// argMax is the first of the largest; NaN never wins.
func argMax(row []float32) int32 {
	best, at := float32(math.Inf(-1)), int32(0)
	for i, v := range row {
		if v > best {
			best, at = v, int32(i)
		}
	}
	return at
}

// drawAll draws from the whole row, cumulating in id order.
func drawAll(logits []float32, top, scale float32, u float64) int32 {
	goal := u * sumExp(logits, top, scale)
	sum, last := 0.0, int32(0)
	for i, l := range logits {
		if w := float64(exp((l - top) * scale)); w > 0 {
			sum, last = sum+w, int32(i)
			if sum > goal {
				break
			}
		}
	}
	return last
}

// draw picks from candidates, cumulating in their order.
func draw(cand []candidate, u float64) int32 {
	total := 0.0
	for _, c := range cand {
		total += c.weight
	}
	goal, sum := u*total, 0.0
	for _, c := range cand {
		if sum += c.weight; sum > goal {
			return c.id
		}
	}
	return cand[len(cand)-1].id
}

// truncate applies top-k, top-p and min-p; what is left is sorted, likeliest first.
// Only tokens near the top are ever sorted: the window is widened until what the
// limits ask for lies inside it.
func (s *Sampler) truncate(logits []float32, top, scale float32, p Params) []candidate {
	topP := p.TopP
	if topP == 0 {
		topP = 1
	}
	total := 0.0
	if p.TopK == 0 && topP < 1 {
		total = sumExp(logits, top, scale)
	}
	for window := float32(8); ; window *= 4 {
		mass := s.gather(logits, top, scale, window)
		all := len(s.cand) == len(logits) || window > 1e6
		if !all && (p.TopK > len(s.cand) || p.TopK == 0 && mass < topP*total || p.MinP > 0 && float64(-window) > math.Log(p.MinP)) {
			continue
		}
		if !all && p.TopK == 0 && topP == 1 && p.MinP == 0 {
			continue
		}
		break
	}
	slices.SortFunc(s.cand, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.logit, a.logit), cmp.Compare(a.id, b.id))
	})
	kept := s.cand
	if p.TopK > 0 {
		kept = kept[:min(p.TopK, len(kept))]
		total = 0
		for _, c := range kept {
			total += c.weight
		}
	}
	if topP < 1 {
		kept = nucleus(kept, topP*total)
	}
	return atLeast(kept, p.MinP)
}

// gather collects the tokens within the window below the top and sums their weights.
func (s *Sampler) gather(logits []float32, top, scale, window float32) float64 {
	s.cand = s.cand[:0]
	mass := 0.0
	for i, l := range logits {
		if d := (l - top) * scale; d >= -window {
			w := float64(exp(d))
			s.cand = append(s.cand, candidate{int32(i), l, w})
			mass += w
		}
	}
	return mass
}

// nucleus is the shortest head whose weights reach goal.
func nucleus(cand []candidate, goal float64) []candidate {
	sum := 0.0
	for i, c := range cand {
		if sum += c.weight; sum >= goal {
			return cand[:i+1]
		}
	}
	return cand
}

// atLeast drops the tail whose weight is below share times the first's.
func atLeast(cand []candidate, share float64) []candidate {
	for len(cand) > 1 && cand[len(cand)-1].weight < share*cand[0].weight {
		cand = cand[:len(cand)-1]
	}
	return cand
}
