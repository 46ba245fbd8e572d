package train

import "math"

// sums are what the metrics of policy losses are made of.
type sums struct {
	tokens, masked, outside int
	v1, v2                  float64
	largest                 float64
}

// add counts a token that the loss depends on.
func (s *sums) add(t *token, weight float64) {
	if t.A == 0 || t.w == 0 {
		return
	}
	s.tokens++
	from := t.p
	if t.hasOld {
		from = t.old
	}
	d := t.q - from
	s.v1 += d
	s.v2 += d * d / 2
	s.largest = max(s.largest, t.mismatch)
	if weight == 0 {
		s.masked++
	}
	if t.r < t.low || t.r > t.high {
		s.outside++
	}
}

func (s *sums) merge(o *sums) {
	s.tokens, s.masked, s.outside = s.tokens+o.tokens, s.masked+o.masked, s.outside+o.outside
	s.v1, s.v2, s.largest = s.v1+o.v1, s.v2+o.v2, max(s.largest, o.largest)
}

// metrics names the sums as clients merge them, by what stands after the colon. The
// first two are the cookbook's estimates of the divergence between who sampled and who
// trains: the means of q-p and of (q-p)^2/2, over the tokens with an advantage.
func (s *sums) metrics(k *lossKind) map[string]float64 {
	if !k.policy {
		return map[string]float64{}
	}
	n := math.Max(float64(s.tokens), 1)
	out := map[string]float64{
		"tokens:sum": float64(s.tokens), "kl_sample_train_v1:mean": s.v1 / n, "kl_sample_train_v2:mean": s.v2 / n,
		"mismatch_ratio:max": s.largest, "tokens_masked:mean": float64(s.masked) / n,
	}
	if k.clipped {
		out["ratio_clipped:mean"] = float64(s.outside) / n
	}
	return out
}
