package engine

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"macaron/internal/engine/lora"
)

// peftCase is one of testdata/tiny/goldens.json: what transformers and PEFT compute.
type peftCase struct {
	Name     string
	Prompt   []int32
	Mix      [][2]any // adapter and weight
	Start    *int     // of the invocation, for an activated adapter
	Logprobs []float64
}

const tinyData = "testdata/tiny"

func peftCases(t testing.TB) []peftCase {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(tinyData, "goldens.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out []peftCase
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// mix loads a case's adapters; suffix chooses the directory or the file of each.
func (c peftCase) mix(t testing.TB, e *Engine, suffix string) lora.Mix {
	t.Helper()
	var m lora.Mix
	for _, w := range c.Mix {
		a, err := e.LoadAdapter(filepath.Join(tinyData, w[0].(string)+suffix))
		if err != nil {
			t.Fatal(err)
		}
		m = append(m, lora.Weighted{Adapter: a, Weight: float32(w[1].(float64))})
	}
	return m
}

// TestAdaptersEqualPEFT: the base, adapters, weighted mixtures (PEFT's combination "cat")
// and activated adapters, in single precision, against PEFT in double precision.
func TestAdaptersEqualPEFT(t *testing.T) {
	e := open(t, filepath.Join(tinyData, "model.gguf"), func(o *Options) { o.Float32 = true })
	for _, c := range peftCases(t) {
		mix := c.mix(t, e, "")
		got, err := e.ScoreMix(context.Background(), c.Prompt, mix)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i, want := range c.Logprobs {
			worst = max(worst, math.Abs(got[i]-want))
		}
		if len(got) != len(c.Logprobs) || worst > 1e-4 {
			t.Errorf("%s: off by up to %.2g", c.Name, worst)
		}
		slices.Reverse(mix)
		if again, err := e.ScoreMix(context.Background(), c.Prompt, mix); err != nil || !slices.Equal(again, got) {
			t.Errorf("%s: the order in which adapters are named matters (%v)", c.Name, err)
		}
	}
}

// TestGGUFComputesTheSameBits: an adapter from a PEFT directory and from the GGUF file
// that llama.cpp's converter made of it.
func TestGGUFComputesTheSameBits(t *testing.T) {
	e := open(t, filepath.Join(tinyData, "model.gguf"), nil)
	for _, c := range peftCases(t) {
		if c.Name != "a" && c.Start == nil {
			continue
		}
		want, err := e.ScoreMix(context.Background(), c.Prompt, c.mix(t, e, ""))
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.ScoreMix(context.Background(), c.Prompt, c.mix(t, e, ".gguf"))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}
