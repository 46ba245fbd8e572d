package edit

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// folded is a text as comparisons see it: compatibility forms are one (NFKC), case does not
// count, and neither do marks and characters that nobody sees.
func folded(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(s)) {
		if !unicode.Is(unicode.Mn, r) && !unseen(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unseen are characters that change what a text says to a machine and not to a reader.
func unseen(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || unicode.Is(unicode.Variation_Selector, r) ||
		r == '\u034f' || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0' || unicode.IsControl(r) && r != '\n' && r != '\t'
}

// dressed finds a word that is written to look like another: letters of several scripts in
// one word, forms that compatibility folds away, characters that nobody sees.
func dressed(s string) string {
	if i := strings.IndexFunc(s, unseen); i >= 0 {
		return "a character that nobody sees"
	}
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		scripts := 0
		for _, script := range []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee} {
			if strings.ContainsFunc(w, func(r rune) bool { return unicode.Is(script, r) }) {
				scripts++
			}
		}
		if scripts > 1 || norm.NFKC.String(w) != norm.NFC.String(w) {
			return w
		}
	}
	return ""
}

var runs = regexp.MustCompile(`[A-Za-z0-9+/_=-]{6,}`)

// readings are the texts that a text may stand for: itself folded, spaced out, backwards, by
// ROT13, and what its longer runs decode to.
func readings(s string) []string {
	f := folded(s)
	out := []string{f, compact(f), reversed(f), rot13(f)}
	for _, run := range runs.FindAllString(s, 64) {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if b, err := enc.DecodeString(strings.TrimRight(run, "=")); err == nil {
				out = append(out, folded(string(b)))
			}
		}
		if b, err := hex.DecodeString(run); err == nil {
			out = append(out, folded(string(b)))
		}
	}
	return out
}

// compact takes out what spreads the letters of a word: single ones with something between.
var spread = regexp.MustCompile(`\b(?:[\p{L}\p{N}][ .\-_*|,]){3,}[\p{L}\p{N}]\b`)

func compact(s string) string {
	return spread.ReplaceAllStringFunc(s, func(w string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsNumber(r) {
				return r
			}
			return -1
		}, w)
	})
}

func reversed(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

func rot13(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return 'a' + (r-'a'+13)%26
		}
		return r
	}, s)
}
