package template

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// quoted reads a string literal with Python's escapes.
func (s *scanner) quoted(rest string) (tok, int) {
	quote := rest[0]
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; c {
		case quote:
			return tok{kind: tokString, text: b.String()}, i + 1
		case '\\':
			if i+1 == len(rest) {
				break
			}
			i += s.escape(&b, rest[i+1:])
		default:
			b.WriteByte(c)
		}
	}
	s.fail("a string is not closed")
	return tok{}, 0
}

var plainEscapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v",
	'\\': "\\", '\'': "'", '"': `"`, '\n': ""}

// escape writes the escape that starts s, after its backslash, and returns the
// bytes it takes. An unknown one keeps its backslash.
func (s *scanner) escape(b *strings.Builder, rest string) int {
	c := rest[0]
	if plain, ok := plainEscapes[c]; ok {
		b.WriteString(plain)
		return 1
	}
	if c >= '0' && c <= '7' {
		n := 1
		for n < 3 && n < len(rest) && rest[n] >= '0' && rest[n] <= '7' {
			n++
		}
		v, err := strconv.ParseUint(rest[:n], 8, 32)
		if err != nil {
			s.fail("the escape \\%s is malformed", rest[:n])
		}
		b.WriteRune(rune(v))
		return n
	}
	width := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	if width == 0 {
		b.WriteByte('\\')
		_, n := utf8.DecodeRuneInString(rest)
		b.WriteString(rest[:n])
		return n
	}
	if len(rest) <= width {
		s.fail("an escape is cut short")
	}
	v, err := strconv.ParseUint(rest[1:1+width], 16, 32)
	if err != nil || v > utf8.MaxRune {
		s.fail("the escape \\%s is malformed", rest[:1+width])
	}
	b.WriteRune(rune(v))
	return 1 + width
}
