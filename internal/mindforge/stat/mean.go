package stat

import (
	"fmt"
	"maps"
	"math"
	"slices"
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
	mean, se, clusters := robust(values)
	e.Mean, e.Clusters = mean, clusters
	if clusters < 2 {
		return e
	}
	g := float64(clusters)
	half := TQuantile(0.975, g-1) * se
	e.Low, e.High = max(low, mean-half), min(high, mean+half)
	if se == 0 {
		e.exact(low, high, 1-math.Pow(0.025, 1/g))
	}
	return e
}

// robust gives the mean, its cluster-robust standard error, and the number of clusters.
func robust(values []Value) (mean, se float64, clusters int) {
	sums, n := map[string]float64{}, float64(max(1, len(values)))
	for _, v := range values {
		mean += v.Y
	}
	mean /= n
	for _, v := range values {
		sums[v.Cluster] += v.Y - mean
	}
	v, g := 0.0, float64(len(sums))
	for _, name := range slices.Sorted(maps.Keys(sums)) { // in one order, so that the bits are the same
		v += sums[name] * sums[name]
	}
	if g < 2 {
		return mean, 0, len(sums)
	}
	return mean, math.Sqrt(g/(g-1)*v) / n, len(sums)
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

// String gives the estimate in percent.
func (e Estimate) String() string {
	return fmt.Sprintf("%.1f [%.1f, %.1f]", 100*e.Mean, 100*e.Low, 100*e.High)
}
