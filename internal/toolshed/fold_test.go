package toolshed

import (
	"math/rand/v2"
	"testing"
)

// The mean number of calls until a tool is demoted, over 2,000 simulated tools: at the claimed
// failure rate no fewer than the bound, at a worse rate few.
func TestWealthKeepsItsBound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	mean := func(rate float64) float64 {
		calls := 0
		for range 2000 {
			for w := 1.0; w < ruin; calls++ {
				w = wealth(w, random.Float64() >= rate)
			}
		}
		return float64(calls) / 2000
	}
	if m := mean(claimed); m < ruin {
		t.Errorf("a tool that keeps its claim is demoted after %.0f calls", m)
	}
	if m := mean(0.5); m > 12 {
		t.Errorf("a tool that fails every other time is demoted after %.0f calls", m)
	}
	if m := mean(1); m != 3 {
		t.Errorf("a tool that always fails is demoted after %.1f calls", m)
	}
}

func FuzzParseSet(f *testing.F) {
	f.Add([]byte(`{"cases":[{"args":{},"want":1}],"generator":{"source":"x","seed":1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseSet(b)
		if err != nil {
			return
		}
		for _, c := range s.Cases {
			if len(c.Args) == 0 || len(c.Want) == 0 {
				t.Fatalf("%q has an empty case", b)
			}
		}
	})
}
