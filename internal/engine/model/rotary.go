package model

import (
	"math"

	"macaron/internal/errs"
)

// rotary says how fast each pair of values of a head turns: base^(-2i/c) a position,
// divided by what the context was stretched by.
type rotary struct {
	base    float64
	factor  float64   // linear scaling; 1 for none
	bands   *bands    // Llama 3's scaling, as checkpoints give it
	divisor []float32 // the same as GGUF files give it: by pair
}

// bands is the scaling of Llama 3.1: slow pairs are divided by the factor, fast ones
// kept, those between interpolated.
type bands struct {
	factor, low, high float64 // low and high: turns within the original context
	original          float64 // positions of the original context
}

// freqs are the angles per position of the pairs of a head of c values.
func (r rotary) freqs(c int) []float64 {
	out := make([]float64, c/2)
	for i := range out {
		f := math.Pow(r.base, -2*float64(i)/float64(c)) / r.factor
		if r.bands != nil {
			f = r.bands.scale(f)
		}
		if r.divisor != nil {
			f /= float64(r.divisor[i])
		}
		out[i] = f
	}
	return out
}

func (b *bands) scale(f float64) float64 {
	turns := b.original * f / (2 * math.Pi)
	switch {
	case turns < b.low:
		return f / b.factor
	case turns > b.high:
		return f
	}
	keep := (turns - b.low) / (b.high - b.low)
	return (1-keep)*f/b.factor + keep*f
}

func (r rotary) check() error {
	ok := positive(r.base, r.factor) && r.base > 1
	if b := r.bands; b != nil {
		ok = ok && positive(b.factor, b.low, b.high, b.original) && b.high > b.low
	}
	for _, d := range r.divisor {
		ok = ok && positive(float64(d))
	}
	if !ok {
		return errs.New(errs.FormatInvalid, "the model's rotary base or scaling makes no sense", "convert the model again")
	}
	return nil
}

// positive tells whether numbers are finite and above zero.
func positive(numbers ...float64) bool {
	for _, f := range numbers {
		if !(f > 0) || math.IsInf(f, 1) {
			return false
		}
	}
	return true
}
