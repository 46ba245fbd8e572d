package stat

import "math"

// Rate is a share of n with its exact 95 % interval (Clopper and Pearson 1934).
type Rate struct {
	K    int     `json:"k"`
	N    int     `json:"n"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// NewRate is the rate of k among n. Of nothing, nothing is known.
func NewRate(k, n int) Rate {
	r := Rate{K: k, N: n, High: 1}
	a, b := float64(k), float64(n-k)
	if k > 0 {
		r.Low = betaQuantile(0.025, a, b+1)
	}
	if n > k {
		r.High = betaQuantile(0.975, a+1, b)
	}
	return r
}

// Value is k/n, 0 of nothing.
func (r Rate) Value() float64 { return float64(r.K) / float64(max(1, r.N)) }

// betaQuantile is the p-quantile of the beta distribution.
func betaQuantile(p, a, b float64) float64 {
	return bisect(0, 1, func(x float64) bool { return betaInc(x, a, b) < p })
}

// bisect finds where below, true at first, becomes false.
func bisect(low, high float64, below func(float64) bool) float64 {
	for range 100 {
		if mid := (low + high) / 2; below(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// Tango is the score interval of the difference of two paired shares, candidate minus
// champion: n items, of which only the candidate passes wins and only the champion losses
// (Tango 1998). It knows nothing of families.
func Tango(n, wins, losses int, confidence float64) (low, high float64) {
	if n == 0 {
		return -1, 1
	}
	z := math.Sqrt2 * math.Erfinv(confidence)
	at := float64(wins-losses) / float64(n)
	low = bisect(-1, at, func(d float64) bool { return tangoScore(n, wins, losses, d) > z })
	high = bisect(at, 1, func(d float64) bool { return tangoScore(n, wins, losses, d) > -z })
	return low, high
}

// tangoScore is the score statistic at a difference d, with the share of losses that is
// likeliest under it. It falls with d.
func tangoScore(n, wins, losses int, d float64) float64 {
	N, w, l := float64(n), float64(wins), float64(losses)
	a, b, c := 2*N, -w-l+(2*N-w+l)*d, -l*d*(1-d)
	p := (math.Sqrt(max(0, b*b-4*a*c)) - b) / (2 * a)
	diff, v := w-l-N*d, N*(2*p+d*(1-d))
	if v <= 0 {
		return math.Inf(1) * sign(diff)
	}
	return diff / math.Sqrt(v)
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}
