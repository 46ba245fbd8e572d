package token

import (
	"unicode"
	"unicode/utf8"
)

// Splitters of simple expressions. Where an expression does not match, the text up to
// its next match is one piece, as between the matches of an isolated split.

func rune0(s string) (rune, int) { return utf8.DecodeRuneInString(s) }

// prefix is the length of the longest prefix of s whose runes are all in a class.
func prefix(s string, in func(rune) bool) int {
	for i, r := range s {
		if !in(r) {
			return i
		}
	}
	return len(s)
}

// between makes a splitter of what matches at the start of a text (0: does not).
func between(match func(s string) int) splitter {
	return func(s string) int {
		if n := match(s); n > 0 {
			return n
		}
		_, i := rune0(s)
		for i < len(s) && match(s[i:]) == 0 {
			_, n := rune0(s[i:])
			i += n
		}
		return i
	}
}

// runOf is [class]+.
func runOf(in func(rune) bool) splitter {
	return func(s string) int {
		if n := prefix(s, in); n > 0 {
			return n
		}
		return prefix(s, func(r rune) bool { return !in(r) })
	}
}

// oneOf is [class].
func oneOf(in func(rune) bool) splitter { return upTo(1, in) }

// upTo is [class]{1,most}.
func upTo(most int, in func(rune) bool) splitter {
	return between(func(s string) int {
		i := 0
		for range most {
			r, n := rune0(s[i:])
			if n == 0 || !in(r) {
				break
			}
			i += n
		}
		return i
	})
}

// spacedRun is \s?[class]+.
func spacedRun(in func(rune) bool) splitter {
	return between(func(s string) int {
		if r, n := rune0(s); unicode.IsSpace(r) {
			if m := prefix(s[n:], in); m > 0 {
				return n + m
			}
		}
		return prefix(s, in)
	})
}

// endBlanks is \s+$.
func endBlanks(s string) int {
	if n := trimRight(s, len(s)); n > 0 {
		return n
	}
	return len(s)
}

// threeDigits is [0-9][0-9][0-9].
var threeDigits = between(func(s string) int {
	for i := range 3 {
		if i == len(s) || s[i] < '0' || s[i] > '9' {
			return 0
		}
	}
	return 3
})

// falconMarks is [\p{P}\$\+<=>\^~\|`]+.
var falconMarks = runOf(func(r rune) bool {
	switch r {
	case '$', '+', '<', '=', '>', '^', '~', '|', '`':
		return true
	}
	return unicode.IsPunct(r)
})

// breaks is \s*[\r\n]+|\s+(?!\S)|\s+ on a text that starts with a blank.
func breaks(s string) int {
	end := 0
	for i := range run(s, space) {
		if s[i] == '\r' || s[i] == '\n' {
			end = i + 1
		}
	}
	if end > 0 {
		return end
	}
	return blanks(s)
}
