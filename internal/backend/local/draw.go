package local

import (
	"math"

	"macaron/internal/engine/sample"
)

// drawn picks one of several labels by its probability at the temperature: p to the power
// of 1/T, normalised. At temperature 0 it is the likeliest, the first among equals.
func drawn(probabilities []float64, p sample.Params) int {
	best, total := 0, 0.0
	for i, x := range probabilities {
		if x > probabilities[best] {
			best = i
		}
	}
	if p.Temperature == 0 {
		return best
	}
	weight := func(i int) float64 { return math.Pow(probabilities[i]/probabilities[best], 1/p.Temperature) }
	for i := range probabilities {
		total += weight(i)
	}
	goal, sum := sample.Uniform(p.Seed, 0)*total, 0.0
	for i := range probabilities {
		if sum += weight(i); sum > goal {
			return i
		}
	}
	return best
}
