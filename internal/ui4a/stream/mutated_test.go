package stream

import (
	"math/rand/v2"
	"testing"

	"macaron/internal/ui4a"
	"macaron/internal/ui4a/compile"
	"macaron/internal/ui4a/tsx"
)

// mutated is a card with a few bytes replaced, cut out or doubled.
func mutated(r *rand.Rand) string {
	b := []byte(card(r.Uint64N(50)))
	for range 1 + r.IntN(6) {
		i := r.IntN(len(b))
		n := min(len(b)-i, r.IntN(50))
		switch r.IntN(4) {
		case 0:
			const marks = "{}()[]<>/`'\"$=?:,;.\n "
			b[i] = marks[r.IntN(len(marks))]
		case 1:
			b = append(b[:i], b[i+n:]...)
		case 2:
			b = append(b[:i:i], append(append([]byte{}, b[i:i+n]...), b[i:]...)...)
		case 3:
			b[i] = byte(r.IntN(256))
		}
	}
	return string(b)
}

// Broken cards are told and closed without harm; of those that compile, the groups that
// the scanner finds are those of the compiler.
func TestMutatedCards(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	compiled := 0
	for range 1500 {
		source := mutated(r)
		if closed, ok := Close(source); ok {
			compile.Compile(closed, compile.Options{Partial: true})
		}
		result, _ := compile.Compile(source, compile.Options{})
		if result.JS == "" {
			continue
		}
		compiled++
		if s := tsx.Scan(source, ui4a.MaxNesting); s.Mismatch >= 0 || len(s.Open) > 1 || s.End != tsx.Between && s.End != tsx.InComment {
			t.Errorf("compiles, and ends in mode %d with %d groups open, mismatch %q\n%s", s.End, len(s.Open), s.TextOf(s.Mismatch), source)
		}
	}
	if compiled < 50 {
		t.Errorf("only %d of the cards compile", compiled)
	}
}
