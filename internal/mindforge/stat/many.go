package stat

import (
	"math"
	"slices"
)

// Spend is the share of a budget alpha that the j-th test, from 1, may use: alpha·6/(π²j²).
// The shares of all tests together are alpha, so that the chance of ever being wrong is at
// most that.
func Spend(alpha float64, j int) float64 {
	if j < 1 {
		return 0
	}
	return alpha * 6 / (math.Pi * math.Pi * float64(j) * float64(j))
}

// Holm marks the hypotheses that are rejected at a family-wise level alpha (Holm 1979).
func Holm(p []float64, alpha float64) []bool {
	out := make([]bool, len(p))
	for rank, i := range order(p, func(x, y float64) bool { return x < y }) {
		if p[i] > alpha/float64(len(p)-rank) {
			break
		}
		out[i] = true
	}
	return out
}

// EBH marks the hypotheses that are rejected at a false discovery rate alpha, by e-values
// that may depend on each other in any way (Wang and Ramdas 2022).
func EBH(e []float64, alpha float64) []bool {
	out, by, last := make([]bool, len(e)), order(e, func(x, y float64) bool { return x > y }), 0
	for rank, i := range by {
		if e[i]*float64(rank+1) >= float64(len(e))/alpha {
			last = rank + 1
		}
	}
	for _, i := range by[:last] {
		out[i] = true
	}
	return out
}

// order lists indices so that values come as less says; equal ones keep their order.
func order(values []float64, less func(x, y float64) bool) []int {
	at := make([]int, len(values))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int {
		switch {
		case less(values[i], values[j]):
			return -1
		case less(values[j], values[i]):
			return 1
		}
		return 0
	})
	return at
}
