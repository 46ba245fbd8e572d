package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// words are the scanners of the newer vocabularies:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,digits}
//	| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// With marks, combining marks (\p{M}) count as letters.
type words struct {
	digits int
	marks  bool
}

// next is a splitter.
func (w words) next(s string) int {
	if n := contraction(s, true); n > 0 {
		return n
	}
	c, n := w.classify(s)
	if lead := w.lead(s, c, n); lead >= 0 {
		return lead + w.run(s[lead:], letter)
	}
	if c == number {
		return w.number(s)
	}
	lead := 0
	if s[0] == ' ' && len(s) > 1 {
		lead = 1
	}
	if c, _ := w.classify(s[lead:]); c == other {
		lead += w.run(s[lead:], other)
		return len(s) - len(strings.TrimLeft(s[lead:], "\r\n"))
	}
	if n := strings.LastIndexAny(s[:run(s, space)], "\r\n"); n >= 0 {
		return n + 1
	}
	return blanks(s)
}

// lead is the offset at which the letters of [^\r\n\p{L}\p{N}]?\p{L}+ start, -1 if
// that does not match. c and n describe the first rune.
func (w words) lead(s string, c class, n int) int {
	if (c == other || c == space) && n < len(s) && s[0] != '\r' && s[0] != '\n' {
		if next, _ := w.classify(s[n:]); next == letter {
			return n
		}
	}
	if c == letter {
		return 0
	}
	return -1
}

func isMark(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsMark(r)
}

func (w words) classify(s string) (class, int) {
	c, n := classify(s)
	if w.marks && c == other && isMark(s) {
		return letter, n
	}
	return c, n
}

func (w words) run(s string, c class) int {
	i := 0
	for i < len(s) {
		got, n := w.classify(s[i:])
		if got != c {
			break
		}
		i += n
	}
	return i
}

// number is the length of up to w.digits numbers.
func (w words) number(s string) int {
	i := 0
	for range w.digits {
		if i == len(s) {
			break
		}
		c, n := w.classify(s[i:])
		if c != number {
			break
		}
		i += n
	}
	return i
}
