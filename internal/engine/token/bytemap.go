package token

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

// unmapped gives the bytes that a vocabulary entry spells; ok is false for an entry
// with a rune that spells no byte.
func unmapped(text string) (bytes string, ok bool) {
	out := make([]byte, 0, len(text))
	for _, r := range text {
		b, ok := runeToByte[r]
		if !ok {
			return "", false
		}
		out = append(out, b)
	}
	return string(out), true
}
