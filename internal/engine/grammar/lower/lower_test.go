package lower

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"macaron/internal/engine/grammar/auto"
)

// TestSequencesAreTheRunesOfARange counts, for random ranges, the encodings that the
// sequences stand for, and finds the range's own among them.
func TestSequencesAreTheRunesOfARange(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		lo := rune(r.IntN([]int{0x100, 0x900, 0x11000, 0x110000}[r.IntN(4)]))
		hi := min(lo+rune(r.IntN([]int{3, 80, 5000, 0x110000}[r.IntN(4)])), utf8.MaxRune)
		for _, part := range auto.Between(lo, hi) {
			check(t, part)
		}
	}
}

func check(t *testing.T, part auto.Range) {
	t.Helper()
	seqs, count := sequences(part.Lo, part.Hi), 0
	for _, s := range seqs {
		n := 1
		for _, b := range s {
			n *= int(b.hi) - int(b.lo) + 1
		}
		count += n
	}
	if want := int(part.Hi - part.Lo + 1); count != want {
		t.Fatalf("%x-%x has %d runes, its sequences %d", part.Lo, part.Hi, want, count)
	}
	for _, c := range []rune{part.Lo, part.Hi, (part.Lo + part.Hi) / 2, part.Lo + (part.Hi-part.Lo)/7} {
		if utf8.ValidRune(c) && !within(seqs, string(c)) {
			t.Fatalf("%x is not in %x-%x", c, part.Lo, part.Hi)
		}
	}
}

func within(seqs [][]byteRange, s string) bool {
	for _, seq := range seqs {
		ok := len(seq) == len(s)
		for i := 0; ok && i < len(s); i++ {
			ok = seq[i].lo <= s[i] && s[i] <= seq[i].hi
		}
		if ok {
			return true
		}
	}
	return false
}
