package token

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// bertRules are the options of BERT's own normaliser, in the order in which they act.
type bertRules struct {
	clean   bool // without control characters; every blank is a space
	chinese bool // each ideograph is a word of its own
	strip   bool // without accents: decomposed, then without marks
	lower   bool
}

// normalise is a normaliser.
func (r bertRules) normalise(text string, _ bool) string {
	if r.clean {
		text = strings.Map(cleaned, text)
	}
	if r.chinese {
		text = spacedOut(text)
	}
	if r.strip {
		text = without(unicode.Mn, norm.NFD.String(text))
	}
	if r.lower {
		text = lowered(text, false)
	}
	return text
}

// cleaned maps a rune to itself, to a space, or to -1: to be dropped.
func cleaned(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return ' '
	case r == 0 || r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// spacedOut puts a space on both sides of every ideograph.
func spacedOut(text string) string {
	if strings.IndexFunc(text, ideograph) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if ideograph(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ideograph has the blocks that BERT's own code has, extension E from U+2B920 on.
func ideograph(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r >= 0x20000 && r <= 0x2a6df ||
		r >= 0x2a700 && r <= 0x2b73f || r >= 0x2b740 && r <= 0x2b81f || r >= 0x2b920 && r <= 0x2ceaf ||
		r >= 0xf900 && r <= 0xfaff || r >= 0x2f800 && r <= 0x2fa1f
}

func without(class *unicode.RangeTable, text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(class, r) {
			return -1
		}
		return r
	}, text)
}

// lowered maps each rune to lower case by itself: a final sigma is as any other. Only
// U+0130 becomes two runes.
func lowered(text string, _ bool) string {
	if strings.ContainsRune(text, 'İ') {
		text = strings.ReplaceAll(text, "İ", "i̇")
	}
	return strings.Map(unicode.ToLower, text)
}

// bertWord is a splitter: a run of blanks, one punctuation mark, or a run of other
// runes.
func bertWord(s string) int {
	first := bertClass(s)
	_, n := utf8.DecodeRuneInString(s)
	if first == punctuation {
		return n
	}
	for n < len(s) && bertClass(s[n:]) == first {
		_, w := utf8.DecodeRuneInString(s[n:])
		n += w
	}
	return n
}

// punctuation is a class of runes beside those of classify: P* and ASCII's symbols.
const punctuation class = 100

// bertClass is the class of the first rune of s: space, punctuation or other.
func bertClass(s string) class {
	r, _ := utf8.DecodeRuneInString(s)
	switch {
	case unicode.IsSpace(r):
		return space
	case r < utf8.RuneSelf && (unicode.IsPunct(r) || unicode.IsSymbol(r)), r >= utf8.RuneSelf && unicode.IsPunct(r):
		return punctuation
	}
	return other
}
