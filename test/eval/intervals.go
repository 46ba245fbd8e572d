package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Wilson is the 95 % interval of a share.
func Wilson(hits, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959964
	p, m := float64(hits)/float64(n), float64(n)
	mid, half := (p+z*z/(2*m))/(1+z*z/m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))/(1+z*z/m)
	return mid - half, mid + half
}

// Share writes a share with its interval.
func Share(hits, n int) string {
	low, high := Wilson(hits, n)
	return fmt.Sprintf("%d of %d, %.1f %% (%.1f - %.1f)", hits, n, 100*float64(hits)/float64(max(n, 1)), 100*low, 100*high)
}

// Paired is the mean of differences and the given interval of it, by 10,000 bootstrap
// samples of the pairs, always the same ones.
func Paired(diffs []float64, level float64) (mean, low, high float64) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a measurement is to be repeatable
	means := make([]float64, 10_000)
	for i := range means {
		for range diffs {
			means[i] += diffs[r.IntN(len(diffs))]
		}
		means[i] /= float64(len(diffs))
	}
	for _, d := range diffs {
		mean += d / float64(len(diffs))
	}
	slices.Sort(means)
	tail := (1 - level) / 2
	return mean, means[int(tail*float64(len(means)))], means[min(len(means)-1, int((1-tail)*float64(len(means))))]
}
