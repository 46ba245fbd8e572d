package sample

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPickWithinIsPickOfWhatIsLeft: masking equals a row in which the other tokens are
// impossible, biases and penalties included, and leaves the row as it was.
func TestPickWithinIsPickOfWhatIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Params{Temperature: rapid.SampledFrom([]float64{0, 1.3}).Draw(t, "temperature"), TopK: rapid.SampledFrom([]int{0, 3}).Draw(t, "k"),
			TopP: rapid.SampledFrom([]float64{0, 0.8}).Draw(t, "p"), RepetitionPenalty: 1.4, Seed: rapid.Uint64().Draw(t, "seed"),
			Bias: []Bias{{2, 1.5}, {7, -2}, {130, 3}}}
		logits := row(rapid.Uint64().Draw(t, "row"), 200, 2)
		h := NewHistory([]int32{2, 130}, nil)
		mask, masked := make([]uint64, 4), slices.Clone(logits)
		for i := range masked {
			if rapid.Bool().Draw(t, "kept") {
				mask[i/64] |= 1 << (i % 64)
			} else {
				masked[i] = float32(math.Inf(-1))
			}
		}
		before := slices.Clone(logits)
		var s Sampler
		got, ok := s.PickWithin(logits, mask, p, h, 5)
		if !slices.Equal(before, logits) {
			t.Fatal("the row was changed")
		}
		if mask[0]|mask[1]|mask[2]|mask[3] == 0 {
			if ok {
				t.Fatal("a token of an empty mask")
			}
			return
		}
		if want := s.Pick(masked, p, h, 5); !ok || got != want {
			t.Fatalf("picked %d, want %d", got, want)
		}
	})
}
