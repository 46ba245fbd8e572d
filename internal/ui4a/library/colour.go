package library

import (
	"math"
	"strconv"
)

// Token gives a colour of cards as #rrggbb in the light and in the dark theme; nil for a
// name that is none.
func Token(name string) []string { return table().Tokens[name] }

// Contrast is the contrast of two colours of cards (WCAG 2.2, relative luminance), the
// lower one of both themes.
func Contrast(a, b string) float64 {
	least := math.Inf(1)
	for theme := range Token(a) {
		x, y := luminance(Token(a)[theme]), luminance(Token(b)[theme])
		least = min(least, (max(x, y)+0.05)/(min(x, y)+0.05))
	}
	return least
}

// luminance is the relative luminance of #rrggbb.
func luminance(hex string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			panic("library.json: " + hex + " is no colour") // a test reads them all
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}
