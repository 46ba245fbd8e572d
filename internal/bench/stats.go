package bench

import (
	"math"
	"sort"
)

// Estimate is a mean with its 95 % interval.
type Estimate struct {
	Mean     float64 `json:"mean"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	N        int     `json:"n"`
	Clusters int     `json:"clusters"`
}

// Value is one outcome and the cluster that it belongs to.
type Value struct {
	Cluster string
	Y       float64
}

// Mean estimates the mean of outcomes that depend on each other within a cluster, such as
// tasks of one family. The variance is the cluster-robust one of a mean,
//
//	V = G/(G-1) · Σ_g (Σ_{i in g} (y_i − ȳ))² / n²
//
// (Liang and Zeger 1986, with the small-sample factor of Cameron, Gelbach and Miller 2008;
// for evaluations of models, Miller 2024, arXiv:2411.00640), and the interval
// ȳ ± t(0.975, G−1)·√V, cut to [low, high]. Where every outcome is the same bound of that
// range (or every difference 0), V is 0 and says nothing: the interval is then the exact
// binomial one (Clopper and Pearson 1934) with the clusters as its n. With one cluster
// nothing is known.
func Mean(values []Value, low, high float64) Estimate {
	e := Estimate{N: len(values), Low: low, High: high}
	sums := map[string]float64{}
	for _, v := range values {
		e.Mean += v.Y
	}
	e.Mean /= float64(max(1, len(values)))
	for _, v := range values {
		sums[v.Cluster] += v.Y - e.Mean
	}
	e.Clusters = len(sums)
	if e.Clusters < 2 {
		return e
	}
	g := float64(e.Clusters)
	v := 0.0
	for _, name := range sorted(sums) { // in one order, so that the bits are the same
		v += sums[name] * sums[name]
	}
	n := float64(e.N)
	half := tQuantile(0.975, g-1) * math.Sqrt(g/(g-1)*v) / n
	e.Low, e.High = max(low, e.Mean-half), min(high, e.Mean+half)
	if v == 0 {
		e.exact(low, high, 1-math.Pow(0.025, 1/g))
	}
	return e
}

// exact gives equal outcomes an interval: the share of the range that clusters which differ
// could have and all be missed, once in forty times.
func (e *Estimate) exact(low, high, share float64) {
	switch e.Mean {
	case low:
		e.High = low + (high-low)*share
	case high:
		e.Low = high - (high-low)*share
	case 0:
		e.Low, e.High = low*share, high*share
	}
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// tQuantile is the p-quantile, p > 0.5, of Student's distribution with df degrees of
// freedom, by bisection.
func tQuantile(p, df float64) float64 {
	low, high := 0.0, 1.0
	for tCDF(high, df) < p {
		high *= 2
	}
	for range 200 {
		if mid := (low + high) / 2; tCDF(mid, df) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// tCDF is the distribution function at t >= 0 (Abramowitz and Stegun 26.5.27).
func tCDF(t, df float64) float64 { return 1 - betaInc(df/(df+t*t), df/2, 0.5)/2 }

// betaInc is the regularised incomplete beta function, by the continued fraction of
// Abramowitz and Stegun 26.5.8 in Lentz's form.
func betaInc(x, a, b float64) float64 {
	if x <= 0 || x >= 1 {
		return max(0, min(1, x))
	}
	if x > (a+1)/(a+b+2) {
		return 1 - betaInc(1-x, b, a)
	}
	ab, _ := math.Lgamma(a + b)
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	front := math.Exp(ab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny = 1e-300
	f, c, d := 1.0, 1.0, 0.0
	for i := range 500 {
		m := float64(i / 2)
		num := 1.0
		switch {
		case i > 0 && i%2 == 0:
			num = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		case i%2 == 1:
			num = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		if d = 1 + num*d; math.Abs(d) < tiny {
			d = tiny
		}
		if c = 1 + num/c; math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		f *= c * d
		if math.Abs(c*d-1) < 1e-15 {
			break
		}
	}
	return front * (f - 1)
}
