package model

import (
	"slices"
	"testing"

	"macaron/internal/engine/kernel"
)

// TestArchitecturesDoNotDependOnCompany: of every architecture the logits of a prompt are
// the same bits whole on two threads, and in pieces of other sizes on one thread with
// another sequence beside it; windows, biases and head norms included.
func TestArchitecturesDoNotDependOnCompany(t *testing.T) {
	for name := range archs {
		m, g := open(t, archPath(name)), readGolden(t, archPath(name))
		n := len(g.tokens)
		want := allLogits(newStep(t, m, kernel.Int8, 2, 4), g.tokens, nil)
		s := newStep(t, m, kernel.Int8, 1, 4)
		var got []float32
		for at, size := 0, 1; at < n; at, size = at+size, size*3%41+1 {
			piece := g.tokens[at:min(at+size, n)]
			other := Run{Tokens: g.tokens[n-1-at%40:][:1], Pos: at, Pages: pageList(2, at+1), Want: 1}
			h := s.Forward([]Run{other, {Tokens: piece, Pos: at, Pages: pageList(0, at+len(piece)), Want: len(piece)}})
			row := make([]float32, len(piece)*m.V)
			s.Logits(row, h[m.D:], nil)
			got = append(got, row...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: pieces beside another sequence give other bits than the whole prompt", name)
		}
	}
}
