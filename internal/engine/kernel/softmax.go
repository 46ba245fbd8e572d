package kernel

import "math"

// sumBlock values are summed in eight float32 lanes; blocks are summed in float64,
// ascending.
const sumBlock = 1024

// SoftmaxInPlace replaces x by exp(x - max) / sum. Values more than 80 below the
// maximum become 0. NaN or +Inf in x gives NaN.
func SoftmaxInPlace(x []float32) {
	if len(x) == 0 {
		return
	}
	sum := expShifted(x, maxValue(x), true)
	scaleBy(x, float32(1/sum))
}

// LogSumExp is log(sum(exp(x))), -Inf for an empty x. x is left as it is.
func LogSumExp(x []float32) float32 {
	top := maxValue(x)
	if math.IsInf(float64(top), -1) {
		return top
	}
	sum := expShifted(x, top, false)
	return float32(float64(top) + math.Log(sum))
}

// ArgMax is the index of the largest value, the lowest one of several, -1 for none.
// NaN is passed over.
func ArgMax(x []float32) int {
	top := maxValue(x)
	for i, v := range x {
		if v == top {
			return i
		}
	}
	return -1
}

// expShifted sums exp(x - shift) and with store leaves the terms in x.
func expShifted(x []float32, shift float32, store bool) float64 {
	sum := 0.0
	for ; len(x) > 0; x = x[min(len(x), sumBlock):] {
		sum += expBlock(x[:min(len(x), sumBlock)], shift, store)
	}
	return sum
}

// expBlock is expShifted for up to sumBlock values. The values beyond the last
// multiple of 8 are added one by one.
func expBlock(x []float32, shift float32, store bool) float64 {
	n := len(x) &^ 7
	sum := float64(expSum(x[:n], shift, store))
	for i := n; i < len(x); i++ {
		e := exp32(x[i] - shift)
		sum += float64(e)
		if store {
			x[i] = e
		}
	}
	return sum
}

// maxValue is the largest value of x, whatever its length.
func maxValue(x []float32) float32 {
	n := len(x) &^ 7
	top := maxOf(x[:n])
	for _, v := range x[n:] {
		if v > top {
			top = v
		}
	}
	return top
}
