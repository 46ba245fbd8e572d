package model

import (
	"path/filepath"
	"slices"
	"testing"

	"macaron/internal/engine/kernel"
	"macaron/internal/testvectors"
)

// TestGemmaEqualsTransformers: the exact path's logits on the real file, with a prompt
// longer than the window; the served path's distance from it beside llama.cpp's.
func TestGemmaEqualsTransformers(t *testing.T) {
	m := open(t, testvectors.Gemma.Path(t))
	g := readGoldensFrom(t, filepath.Join("testdata", "gemma.json"), filepath.Join("testdata", "gemma.f32.gz"), m.V)
	worst, far := 0.0, false
	var q quality
	for name, prompt := range g.Prompts {
		far = far || len(prompt) > m.Window+64
		s := newStep(t, m, kernel.Float32, 2, 16)
		hidden := slices.Clone(s.Forward([]Run{{Tokens: prompt, Pages: pageList(0, len(prompt)), Want: len(prompt)}}))
		row := make([]float32, m.V)
		for i, r := range g.Rows {
			if r.Prompt == name {
				s.Logits(row, hidden[r.Position*m.D:][:m.D], nil)
				worst = max(worst, g.check(t, i, row))
			}
		}
		if len(prompt) > 100 {
			continue // a megabyte of logits for each position
		}
		want := make([]float32, len(prompt)*m.V)
		s.Logits(want, hidden, nil)
		q.add(want, allLogits(newStep(t, m, kernel.Int8, 2, 16), prompt, nil), m.V)
	}
	t.Logf("worst relative L2: %.2e", worst)
	if !far {
		t.Error("no prompt goes beyond the window")
	}
	q.check(t, g)
}
