package train

// token is what a term reads. p is the log probability of the target now, q what it was
// for whoever sampled it, r the ratio exp(p-q), A the advantage, w the weight.
type token struct {
	p, q, old, A, w float64
	low, high       float64 // thresholds of the ratio
	r               float64 // of this token, or of its sequence; with old, against old
	mismatch        float64 // between the sampler and the trainer: exp(old-q), or exp(p-q) without old
	hasOld          bool
}

// crossEntropy: L = -w p.
func crossEntropy(t *token, _ *settings) (loss, slope float64) { return -t.w * t.p, -t.w }

// importanceSampling: L = -r A; dr/dp = r.
func importanceSampling(t *token, _ *settings) (loss, slope float64) {
	return -t.r * t.A, -t.r * t.A
}

// clippedRatio is PPO's: L = -min(r A, clip(r, low, high) A). Where the clipped branch is
// the smaller one, nothing depends on p. For gspo r is the sequence's ratio, with the
// token's own derivative.
func clippedRatio(t *token, _ *settings) (loss, slope float64) {
	plain, clipped := t.r*t.A, min(max(t.r, t.low), t.high)*t.A
	if clipped < plain {
		return -clipped, 0
	}
	return -plain, -plain
}

// clippedWeight is CISPO's: L = -stop(clip(r, low, high)) p A.
func clippedWeight(t *token, _ *settings) (loss, slope float64) {
	weight := min(max(t.r, t.low), t.high) * t.A
	return -weight * t.p, -weight
}

// directReward is DRO's: L = -(p A - beta/2 (p-q)^2).
func directReward(t *token, s *settings) (loss, slope float64) {
	d := t.p - t.q
	if t.hasOld {
		d = t.p - t.old
	}
	beta := s.of("beta")
	return -(t.p*t.A - beta/2*d*d), -(t.A - beta*d)
}
