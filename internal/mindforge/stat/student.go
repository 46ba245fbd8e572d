package stat

import "math"

// TQuantile is the p-quantile, p > 0.5, of Student's distribution with df degrees of
// freedom, by bisection.
func TQuantile(p, df float64) float64 {
	low, high := 0.0, 1.0
	for TCDF(high, df) < p {
		high *= 2
	}
	for range 200 {
		if mid := (low + high) / 2; TCDF(mid, df) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// TCDF is the distribution function at t >= 0 (Abramowitz and Stegun 26.5.27).
func TCDF(t, df float64) float64 { return 1 - betaInc(df/(df+t*t), df/2, 0.5)/2 }

// betaInc is the regularised incomplete beta function, by the continued fraction of
// Abramowitz and Stegun 26.5.8 in Lentz's form.
func betaInc(x, a, b float64) float64 {
	if x <= 0 || x >= 1 {
		return max(0, min(1, x))
	}
	if x > (a+1)/(a+b+2) {
		return 1 - betaInc(1-x, b, a)
	}
	ab, _ := math.Lgamma(a + b)
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	front := math.Exp(ab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny = 1e-300
	f, c, d := 1.0, 1.0, 0.0
	for i := range 500 {
		m := float64(i / 2)
		num := 1.0
		switch {
		case i > 0 && i%2 == 0:
			num = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		case i%2 == 1:
			num = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		if d = 1 + num*d; math.Abs(d) < tiny {
			d = tiny
		}
		if c = 1 + num/c; math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		f *= c * d
		if math.Abs(c*d-1) < 1e-15 {
			break
		}
	}
	return front * (f - 1)
}
