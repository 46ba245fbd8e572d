package stat

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// Tries is how one item went: C of N attempts passed.
type Tries struct {
	Family string `json:"family"`
	N      int    `json:"n"`
	C      int    `json:"c"`
}

// PassAt is the unbiased estimate of the chance that at least one of k attempts passes,
// 1 − C(n−c, k)/C(n, k) (Chen et al. 2021, arXiv:2107.03374). k is at most N.
func (t Tries) PassAt(k int) float64 {
	if t.N-t.C < k {
		return 1
	}
	miss := 1.0
	for i := t.N - t.C + 1; i <= t.N; i++ {
		miss *= 1 - float64(k)/float64(i)
	}
	return 1 - miss
}

// Point is a point of a coverage curve: the share of the items that k attempts each pass,
// with a 95 % interval.
type Point struct {
	K    int     `json:"k"`
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	N    int     `json:"n"` // items
}

// resamples of the bootstrap.
const resamples = 2000

// Coverage is the curve over ks. Its intervals are percentiles of a bootstrap that draws
// whole families, the same ones for each k, from the seed. A k that some item has not been
// tried that often for is left out.
func Coverage(items []Tries, ks []int, seed uint64) []Point {
	least := 0
	for i, t := range items {
		if i == 0 || t.N < least {
			least = t.N
		}
	}
	var out []Point
	for _, k := range ks {
		if k >= 1 && k <= least {
			out = append(out, coverageAt(items, k, seed))
		}
	}
	return out
}

func coverageAt(items []Tries, k int, seed uint64) Point {
	sums, sizes := map[string]float64{}, map[string]float64{}
	p := Point{K: k, N: len(items)}
	for _, t := range items {
		y := t.PassAt(k)
		sums[t.Family] += y
		sizes[t.Family]++
		p.Mean += y / float64(len(items))
	}
	families := slices.Sorted(maps.Keys(sums))
	random, means := rand.New(rand.NewPCG(seed, 0x636f76)), make([]float64, resamples)
	for i := range means {
		sum, n := 0.0, 0.0
		for range families {
			f := families[random.IntN(len(families))]
			sum, n = sum+sums[f], n+sizes[f]
		}
		means[i] = sum / n
	}
	slices.Sort(means)
	p.Low, p.High = means[resamples/40], means[resamples-1-resamples/40]
	return p
}
