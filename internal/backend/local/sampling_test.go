package local

import (
	"testing"

	"macaron/internal/chat"
	"macaron/internal/engine/sample"
)

// TestNoMassLeavesTheLikeliest: top_p = 0, which clients send for the likeliest token, is not "off".
func TestNoMassLeavesTheLikeliest(t *testing.T) {
	hot, none := 1.0, 0.0
	var s sample.Sampler
	for seed := range int64(32) {
		p := params(chat.Sampling{Temperature: &hot, TopP: &none, Seed: &seed}, nil)
		if got := s.Pick([]float32{1, 1.2, 1.1, 0.9}, p, sample.NewHistory(nil, nil), 0); got != 1 {
			t.Fatalf("seed %d draws %d", seed, got)
		}
	}
	if p := params(chat.Sampling{Temperature: &hot}, nil); p.TopP != 0 {
		t.Errorf("an unset top_p is %g", p.TopP)
	}
}
