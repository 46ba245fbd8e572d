package stat

import (
	"math"
	"math/rand/v2"
)

// McNemar is the exact one-sided p-value that the candidate is better: the chance of at
// least so many wins among the discordant items when each is a fair coin (McNemar 1947). It
// knows nothing of families: where a family shifts its items together, it rejects too often.
func McNemar(wins, losses int) float64 {
	if wins == 0 {
		return 1
	}
	return betaInc(0.5, float64(wins), float64(losses)+1)
}

// exactFlips is the number of families up to which every sign is tried.
const exactFlips = 14

// SignFlip is the one-sided p-value that the families' mean difference is above 0, if either
// arm could as well have been the other within each family. Up to 14 families it is exact;
// with more, signs are drawn that often from the seed, and the observed ones count as one
// draw (Phipson and Smyth 2010).
func SignFlip(pairs []Pair, draws int, seed uint64) float64 {
	blocks := Blocks(pairs)
	seen := 0.0
	for _, b := range blocks {
		seen += b.Diff
	}
	if len(blocks) <= exactFlips {
		return allFlips(blocks, seen)
	}
	random, hits := rand.New(rand.NewPCG(seed, 0x7369676e)), 1
	for range draws {
		if reaches(flipped(blocks, random.Uint64), seen) {
			hits++
		}
	}
	return float64(hits) / float64(draws+1)
}

func allFlips(blocks []Block, seen float64) float64 {
	hits, all := 0, 1<<len(blocks)
	for signs := range all {
		if reaches(flipped(blocks, func() uint64 { return uint64(signs) }), seen) {
			hits++
		}
	}
	return float64(hits) / float64(all)
}

// flipped is the sum with the signs of the bits that next gives, 64 at a time.
func flipped(blocks []Block, next func() uint64) float64 {
	sum, bits := 0.0, uint64(0)
	for i, b := range blocks {
		if i%64 == 0 {
			bits = next()
		}
		if bits>>(i%64)&1 == 1 {
			sum -= b.Diff
		} else {
			sum += b.Diff
		}
	}
	return sum
}

// reaches compares sums that differ in rounding at most as equal.
func reaches(sum, seen float64) bool { return sum >= seen-1e-9*max(1, math.Abs(seen)) }

// FamilyT is the one-sided p-value of Student's test on the families' mean differences, with
// one degree of freedom less than there are families.
func FamilyT(pairs []Pair) float64 {
	blocks := Blocks(pairs)
	g := float64(len(blocks))
	if g < 2 {
		return 1
	}
	mean, v := 0.0, 0.0
	for _, b := range blocks {
		mean += b.Diff / g
	}
	for _, b := range blocks {
		v += (b.Diff - mean) * (b.Diff - mean)
	}
	if v == 0 {
		return oneSided(mean, math.Pow(0.5, g))
	}
	t := mean / math.Sqrt(v/(g-1)/g)
	if t < 0 {
		return TCDF(-t, g-1)
	}
	return 1 - TCDF(t, g-1)
}

// oneSided: families that all say the same are so many equal coins.
func oneSided(mean, coins float64) float64 {
	if mean > 0 {
		return coins
	}
	return 1
}

// NonInferior reports whether the candidate is shown to be worse by less than the margin at
// level alpha, and the lower bound that shows it. The bound is the cluster-robust one; where
// no item differs it is the exact binomial one for losses among the items, and with one
// family there is none.
func NonInferior(pairs []Pair, margin, alpha float64) (bool, float64) {
	mean, se, families := robust(differences(pairs))
	wins, losses := Discordant(pairs)
	low := -1.0
	switch {
	case families < 2:
	case wins+losses == 0:
		low = math.Pow(alpha, 1/float64(len(pairs))) - 1
	default:
		low = max(-1, mean-TQuantile(1-alpha, float64(families)-1)*se)
	}
	return low > -margin, low
}
