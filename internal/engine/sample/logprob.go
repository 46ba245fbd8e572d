package sample

import "macaron/internal/engine/kernel"

// Logprob is the natural-log probability of a token under the model's own
// distribution, before penalties, temperature and limits.
type Logprob struct {
	ID      int32
	Logprob float64
}

// Norm is the logarithm of the sum of exp over a row: a token's log probability is its
// logit less Norm.
func Norm(logits []float32) float64 {
	return float64(kernel.LogSumExp(logits))
}

// Rank is the place of a token among all, 1 for the likeliest; equals share a place.
func Rank(logits []float32, id int32) int {
	rank := 1
	for _, l := range logits {
		if l > logits[id] {
			rank++
		}
	}
	return rank
}

// Top gives the n likeliest tokens of a row, likeliest first, the lower id first among
// equals.
func Top(logits []float32, norm float64, n int) []Logprob {
	if n = min(n, len(logits)); n <= 0 {
		return nil
	}
	best := make([]int32, 0, n)
	for i, l := range logits {
		if len(best) == n && !(l > logits[best[n-1]]) {
			continue
		}
		if len(best) < n {
			best = append(best, 0)
		}
		at := len(best) - 1
		for ; at > 0 && l > logits[best[at-1]]; at-- {
			best[at] = best[at-1]
		}
		best[at] = int32(i)
	}
	out := make([]Logprob, len(best))
	for i, id := range best {
		out[i] = Logprob{id, float64(logits[id]) - norm}
	}
	return out
}
