package kernel

import "math"

// Range of exp32: below, the result is 0; above, exp(expHigh).
const (
	expLow  = -80
	expHigh = 88
)

const (
	log2e = 1.44269504
	ln2hi = 0.693359375
	ln2lo = -2.12194440e-4
)

var expPoly = [6]float32{1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1}

// exp32 is e^x with about one unit of error in the last place: x = n*ln2 + r, a
// polynomial in r, and n added to the exponent.
func exp32(x float32) float32 {
	switch {
	case x != x:
		return x
	case x < expLow:
		return 0
	case x > expHigh:
		x = expHigh
	}
	n := float32(math.RoundToEven(float64(float32(x * log2e))))
	r := fma32(n, -ln2hi, x)
	r = fma32(n, -ln2lo, r)
	p := expPoly[0]
	for _, c := range expPoly[1:] {
		p = fma32(p, r, c)
	}
	y := fma32(p, float32(r*r), r) + 1
	return math.Float32frombits(math.Float32bits(y) + uint32(int32(n))<<23)
}

// expSumRef sums exp(x - shift), lane by lane, and with store leaves the terms in x;
// len(x) is a multiple of 8.
func expSumRef(x []float32, shift float32, store bool) float32 {
	var lanes [8]float32
	for i, v := range x {
		e := exp32(v - shift)
		lanes[i&7] += e
		if store {
			x[i] = e
		}
	}
	return fold8(&lanes)
}

// maxOfRef is the largest value of x, -Inf for none; NaN is passed over and a zero is
// +0 (adding 0 does that), because lanes meet zeros in another order. len(x) is a
// multiple of 8.
func maxOfRef(x []float32) float32 {
	top := float32(math.Inf(-1))
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	return top + 0
}
