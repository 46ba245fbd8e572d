package train

import "math"

// exp is e^x to about one unit of the last place, from additions and multiplications in
// a fixed order: math.Exp may differ by a bit between processors.
func exp(x float64) float64 {
	const log2e, high, low = 1.4426950408889634, 6.93147180369123816490e-01, 1.90821492927058770002e-10 // ln 2 = high + low
	switch {
	case math.IsNaN(x):
		return x
	case x > 700:
		x = 700
	case x < -700:
		return 0
	}
	n := math.RoundToEven(x * log2e)
	r := x - float64(n*high)
	r -= float64(n * low)
	y := 1.0 // Taylor's series by Horner's rule, |r| <= ln(2)/2
	for i := 14.0; i > 0; i-- {
		y = 1 + float64(float64(r*y)/i)
	}
	return math.Ldexp(y, int(n))
}
