package token

import (
	"strings"
	"unicode/utf8"
)

// Byte-level vocabularies spell each byte as a printable rune: a printable Latin-1
// byte as itself, the 68 others, in order, as U+0100 and up.
var runeToByte = func() map[rune]byte {
	m := make(map[rune]byte, 256)
	next := rune(0x100)
	for b := range 256 {
		if b > ' ' && b < 0x7f || b > 0xa0 && b != 0xad {
			m[rune(b)] = byte(b)
			continue
		}
		m[next] = byte(b)
		next++
	}
	return m
}()

// byteToRune is the other direction.
var byteToRune = func() (m [256]rune) {
	for r, b := range runeToByte {
		m[b] = r
	}
	return m
}()

// unmapped appends the bytes that a vocabulary entry spells; ok is false, and dst as
// it was, for an entry with a rune that spells no byte.
func unmapped(dst []byte, text string) (out []byte, ok bool) {
	out = dst
	for _, r := range text {
		b, ok := runeToByte[r]
		if !ok {
			return dst, false
		}
		out = append(out, b)
	}
	return out, true
}

// spelled is how the vocabulary spells a text: spaces as U+2581 or, in a byte-level
// one, each byte as its rune.
func (t *Tokenizer) spelled(text string) string {
	if t.algo != bpeBytes {
		return strings.ReplaceAll(text, " ", blank)
	}
	out := make([]byte, 0, 2*len(text))
	for i := range len(text) {
		out = utf8.AppendRune(out, byteToRune[text[i]])
	}
	return string(out)
}
