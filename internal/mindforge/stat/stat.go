// Package stat has the statistics by which the gate decides: tests of a candidate against a
// champion on the same items, bets that may be looked at after every family, intervals, the
// spending of an alpha budget, coverage, and how good predictions were. Items of one family
// of templates are not independent, so families are the unit wherever a test allows it.
// Pure: what is drawn at random is drawn from a seed.
package stat

import (
	"maps"
	"slices"
)

// Pair is the outcome of one item under the champion (A) and the candidate (B), from 0 to 1.
// With repeats it is the mean of them.
type Pair struct {
	Family string  `json:"family"`
	A      float64 `json:"a"`
	B      float64 `json:"b"`
}

// Block is what the items of one family say together.
type Block struct {
	Family string
	N      int
	Diff   float64 // mean of B − A, from −1 to 1
}

// Blocks puts pairs together by family, in the order of the names.
func Blocks(pairs []Pair) []Block {
	of := map[string]Block{}
	for _, p := range pairs {
		b := of[p.Family]
		of[p.Family] = Block{p.Family, b.N + 1, b.Diff + p.B - p.A}
	}
	out := make([]Block, 0, len(of))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		b := of[name]
		b.Diff /= float64(b.N)
		out = append(out, b)
	}
	return out
}

// Discordant counts the items that only the candidate does better, and that only the
// champion does: repairs and regressions.
func Discordant(pairs []Pair) (wins, losses int) {
	for _, p := range pairs {
		switch {
		case p.B > p.A:
			wins++
		case p.B < p.A:
			losses++
		}
	}
	return wins, losses
}

func differences(pairs []Pair) []Value {
	out := make([]Value, len(pairs))
	for i, p := range pairs {
		out[i] = Value{p.Family, p.B - p.A}
	}
	return out
}

// Difference is the mean of B − A with its cluster-robust 95 % interval.
func Difference(pairs []Pair) Estimate { return Mean(differences(pairs), -1, 1) }
