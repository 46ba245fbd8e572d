package lower

import (
	"fmt"
	"unicode/utf8"

	"macaron/internal/engine/grammar/auto"
	"macaron/internal/engine/grammar/rtn"
)

// class finds or makes the rule that takes one rune of a set beyond ASCII.
func (w *Writer) class(s auto.Set) rtn.Rule {
	key := fmt.Sprint(s)
	if r, ok := w.rules[key]; ok {
		return r
	}
	r := w.B.Rule()
	w.rules[key] = r
	tails := map[string]rtn.Node{"": w.B.End(r)}
	for _, part := range s {
		for _, seq := range sequences(part.Lo, part.Hi) {
			w.B.Bytes(w.B.Start(r), seq[0].lo, seq[0].hi, w.tail(tails, seq[1:]))
		}
	}
	return r
}

// tail is the node before the rest of a sequence; equal rests share it.
func (w *Writer) tail(tails map[string]rtn.Node, seq []byteRange) rtn.Node {
	key := ""
	for _, b := range seq {
		key += string([]byte{b.lo, b.hi})
	}
	n, ok := tails[key]
	if !ok {
		n = w.B.Node()
		tails[key] = n
		w.B.Bytes(n, seq[0].lo, seq[0].hi, w.tail(tails, seq[1:]))
	}
	return n
}

type byteRange struct{ lo, hi byte }

// sequences splits a range of runes into sequences of byte ranges, each of which stands
// for all combinations of its bytes.
func sequences(lo, hi rune) [][]byteRange {
	for _, last := range []rune{0x7F, 0x7FF, 0xFFFF} {
		if lo <= last && last < hi {
			return append(sequences(lo, last), sequences(last+1, hi)...)
		}
	}
	// Where a low part of 6, 12 or 18 bits does not run over its whole range, split.
	for shift := 6; shift <= 18; shift += 6 {
		mask := rune(1)<<shift - 1
		if lo&^mask == hi&^mask {
			break
		}
		if lo&mask != 0 {
			return append(sequences(lo, lo|mask), sequences(lo|mask+1, hi)...)
		}
		if hi&mask != mask {
			return append(sequences(lo, hi&^mask-1), sequences(hi&^mask, hi)...)
		}
	}
	var a, b [utf8.UTFMax]byte
	n := utf8.EncodeRune(a[:], lo)
	utf8.EncodeRune(b[:], hi)
	seq := make([]byteRange, n)
	for i := range seq {
		seq[i] = byteRange{a[i], b[i]}
	}
	return [][]byteRange{seq}
}
