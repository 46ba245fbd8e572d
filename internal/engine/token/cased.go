package token

import "unicode"

// casedWords are the scanners of Tekken and o200k, whose words end before a capital
// that follows a small letter:
//
//	[^\r\n\p{L}\p{N}]?[U]*[L]+ | [^\r\n\p{L}\p{N}]?[U]+[L]* | \p{N}{1,digits}
//	| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// with U = \p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M} and L = \p{Ll}\p{Lm}\p{Lo}\p{M}. With
// contractions, each of the first two may end in one.
type casedWords struct {
	digits       int
	contractions bool
}

func upperish(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M)
}

func lowerish(r rune) bool { return unicode.In(r, unicode.Ll, unicode.Lm, unicode.Lo, unicode.M) }

// next is a splitter.
func (w casedWords) next(s string) int {
	for _, match := range []func(string) int{smallEnd, capitals} {
		if n := led(s, match); n > 0 {
			return n + w.contraction(s[n:])
		}
	}
	c, _ := classify(s)
	if c == number {
		return upTo(w.digits, unicode.IsNumber)(s)
	}
	lead := 0
	if s[0] == ' ' && len(s) > 1 {
		lead = 1
	}
	if c, _ := classify(s[lead:]); c == other {
		lead += run(s[lead:], other)
		return lead + prefix(s[lead:], func(r rune) bool { return lineEnd(r) || r == '/' })
	}
	return breaks(s)
}

func (w casedWords) contraction(s string) int {
	if !w.contractions || s == "" {
		return 0
	}
	return contraction(s, true)
}

// led is [^\r\n\p{L}\p{N}]? and then what match wants.
func led(s string, match func(string) int) int {
	r, n := rune0(s)
	if !lineEnd(r) && !unicode.IsLetter(r) && !unicode.IsNumber(r) {
		if m := match(s[n:]); m > 0 {
			return n + m
		}
	}
	return match(s)
}

// smallEnd is [U]*[L]+: where no small letter follows the longest [U]*, the last rune of
// it that is in both classes is [L]+.
func smallEnd(s string) int {
	last := 0
	for i, r := range s {
		_, n := rune0(s[i:])
		if !upperish(r) {
			if m := prefix(s[i:], lowerish); m > 0 {
				return i + m
			}
			return last
		}
		if lowerish(r) {
			last = i + n
		}
	}
	return last
}

// capitals is [U]+[L]*.
func capitals(s string) int {
	n := prefix(s, upperish)
	if n == 0 {
		return 0
	}
	return n + prefix(s[n:], lowerish)
}
