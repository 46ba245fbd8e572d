package sample

import (
	"math"
)

// Logprob is the natural-log probability of a token under the model's own
// distribution, before penalties, temperature and limits.
type Logprob struct {
	ID      int32
	Logprob float64
}

// Norm is the logarithm of the sum of exp over a row: a token's log probability is its
// logit less Norm.
func Norm(logits []float32) float64 {
	top := logits[argMax(logits)]
	return float64(top) + math.Log(sumExp(logits, top, 1))
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

// sumExp is the sum of exp((l-top)*scale) in id order.
func sumExp(logits []float32, top, scale float32) float64 {
	sum := 0.0
	for _, l := range logits {
		sum += float64(exp((l - top) * scale))
	}
	return sum
}

// exp is e to the x for x <= 0, to about one unit in the last place, with no library
// call: 2 to a whole power times a polynomial.
func exp(x float32) float32 {
	if !(x > -87) {
		return 0
	}
	k := math.Floor(float64(x)*math.Log2E + 0.5)
	r := float64(x) - k*math.Ln2
	p := 1 + r*(1+r*(1.0/2+r*(1.0/6+r*(1.0/24+r*(1.0/120+r*(1.0/720))))))
	return float32(p) * math.Float32frombits(uint32(int32(k)+127)<<23)
}
