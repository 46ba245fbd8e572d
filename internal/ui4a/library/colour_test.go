package library

import (
	"math"
	"testing"
)

// Pairs whose contrast is known: black and white of WCAG's definition, and one that
// Chromium's inspector gives.
func TestContrast(t *testing.T) {
	for name := range table().Tokens {
		if got := Contrast(name, name); got != 1 {
			t.Errorf("%s before itself: %f", name, got)
		}
	}
	for _, c := range []struct {
		hex  string
		want float64
	}{{"#000000", 0}, {"#ffffff", 1}, {"#777777", 0.1845}} {
		if got := luminance(c.hex); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%s: %f, want %f", c.hex, got, c.want)
		}
	}
	if got := Contrast("fg", "surface"); got < 15 {
		t.Errorf("text before the card: %f", got)
	}
	if got := Contrast("accent-fg", "surface"); got > 1.2 {
		t.Errorf("the accent's text before the card: %f", got)
	}
}
