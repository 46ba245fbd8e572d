package sample

import (
	"cmp"
	"slices"

	"macaron/internal/engine/kernel"
)

// Sampler chooses tokens; it holds scratch memory only and serves one goroutine.
type Sampler struct {
	undo []change
	prob []float32
	cand []candidate
	kept []int32   // tokens within a mask
	row  []float32 // their logits
}

// candidate is a token with its logit and its probability at the temperature.
type candidate struct {
	id    int32
	logit float32
	prob  float64
}

// Pick chooses the token at a position from its logits, one per vocabulary entry. The
// row is the same again when Pick returns.
func (s *Sampler) Pick(logits []float32, p Params, h *History, position int) int32 {
	s.undo = p.lean(logits, s.undo[:0])
	if h != nil && p.penalised() {
		s.undo = h.penalise(logits, p, s.undo)
	}
	defer s.restore(logits)
	best := max(kernel.ArgMax(logits), 0)
	if p.Temperature == 0 {
		return int32(best)
	}
	s.soften(logits, logits[best], float32(1/p.Temperature))
	if !(s.prob[best] > 0) {
		return int32(best) // a temperature or logits beyond what float32 can hold
	}
	u := Uniform(p.Seed, uint64(position))
	if p.TopK == 0 && (p.TopP == 0 || p.TopP == 1) && p.MinP == 0 {
		return drawAll(s.prob, u)
	}
	return draw(s.truncate(logits, p), u)
}

// soften fills prob with the distribution at a temperature of 1/scale. Tokens more
// than 80 below the top at that temperature get 0.
func (s *Sampler) soften(logits []float32, top, scale float32) {
	if cap(s.prob) < len(logits) {
		s.prob = make([]float32, len(logits))
	}
	s.prob = s.prob[:len(logits)]
	for i, l := range logits {
		s.prob[i] = (l - top) * scale
	}
	kernel.SoftmaxInPlace(s.prob)
}

// restore takes changes back, the last first: a logit may have been changed twice.
func (s *Sampler) restore(logits []float32) {
	for _, c := range slices.Backward(s.undo) {
		logits[c.id] = c.logit
	}
}

// lean adds the biases and gives what takes them back.
func (p Params) lean(logits []float32, undo []change) []change {
	for _, b := range p.Bias {
		if int(b.ID) < len(logits) {
			undo = append(undo, change{b.ID, logits[b.ID]})
			logits[b.ID] += b.Logit
		}
	}
	return undo
}

// drawAll draws from the whole row, cumulating in id order.
func drawAll(prob []float32, u float64) int32 {
	total := 0.0
	for _, p := range prob {
		total += float64(p)
	}
	goal, sum, last := u*total, 0.0, int32(0)
	for i, p := range prob {
		if p > 0 {
			sum, last = sum+float64(p), int32(i)
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
		total += c.prob
	}
	goal, sum := u*total, 0.0
	for _, c := range cand {
		if sum += c.prob; sum > goal {
			return c.id
		}
	}
	return cand[len(cand)-1].id
}

// truncate applies top-k, top-p and min-p; what is left is sorted, likeliest first.
// Only tokens near the top are ever sorted: the floor is lowered until what the limits
// ask for lies above it.
func (s *Sampler) truncate(logits []float32, p Params) []candidate {
	topP := p.TopP
	if topP == 0 {
		topP = 1
	}
	for floor := float32(1e-3); ; floor *= 1e-3 {
		mass, top := s.gather(logits, floor)
		enough := p.TopK > 0 && len(s.cand) >= p.TopK ||
			p.TopK == 0 && topP < 1 && mass > topP+1e-4 || // beyond rounding of the sum
			!(p.TopK > 0 && topP < 1) && p.MinP > 0 && float64(floor) < p.MinP*top
		if enough || floor == 0 {
			break
		}
	}
	slices.SortFunc(s.cand, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.logit, a.logit), cmp.Compare(a.id, b.id))
	})
	kept, total := s.cand, 1.0
	if p.TopK > 0 {
		kept = kept[:min(p.TopK, len(kept))]
		total = 0
		for _, c := range kept {
			total += c.prob
		}
	}
	if topP < 1 {
		kept = nucleus(kept, topP*total)
	}
	return atLeast(kept, p.MinP)
}

// gather collects the tokens with at least the floor's probability, and tells their
// sum and maximum.
func (s *Sampler) gather(logits []float32, floor float32) (mass, top float64) {
	s.cand = s.cand[:0]
	for i, p := range s.prob {
		if p >= floor && p > 0 {
			s.cand = append(s.cand, candidate{int32(i), logits[i], float64(p)})
			mass, top = mass+float64(p), max(top, float64(p))
		}
	}
	return mass, top
}

// nucleus is the shortest head whose probabilities reach goal.
func nucleus(cand []candidate, goal float64) []candidate {
	sum := 0.0
	for i, c := range cand {
		if sum += c.prob; sum >= goal {
			return cand[:i+1]
		}
	}
	return cand
}

// atLeast drops the tail whose probability is below share times the first's.
func atLeast(cand []candidate, share float64) []candidate {
	for len(cand) > 1 && cand[len(cand)-1].prob < share*cand[0].prob {
		cand = cand[:len(cand)-1]
	}
	return cand
}
