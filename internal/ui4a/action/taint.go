package action

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// window is how many letters and digits of a NoAI value in a row are taken for a leak;
// digits alone need one more, since dates and prices hit four too often. A value with
// fewer is looked for whole.
const (
	window      = 4
	digitWindow = 5
)

// skeleton is a text without what is changed to disguise it: letters and digits alone,
// lower case, without accents and width (NFKD), digits of any script as ASCII.
func skeleton(text string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(text) {
		switch {
		case unicode.IsDigit(r):
			b.WriteByte('0' + digit(r))
		case unicode.IsLetter(r):
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// digit is the value of a decimal digit: Unicode keeps the ten of a script in a row.
func digit(r rune) byte {
	if r < 128 {
		return byte(r - '0')
	}
	for _, t := range unicode.Nd.R16 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10)
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10)
		}
	}
	return 0
}

func digits(skeleton string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, skeleton)
}

func reversed(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

// needles are what a set of NoAI values is looked for by.
type needles struct {
	grams map[string]bool // windows of the values, of window or digitWindow runes
	short []string        // values too short to have one
	bare  []string        // values without a letter or digit, as they are
}

func newNeedles(values []string) needles {
	n := needles{grams: map[string]bool{}}
	for _, v := range values {
		s := skeleton(v)
		if s == "" {
			n.bare = append(n.bare, v)
			continue
		}
		n.add(s)
		n.add(digits(s))
	}
	return n
}

// add takes a skeleton's windows, forwards and backwards.
func (n *needles) add(s string) {
	if s == "" {
		return
	}
	size := window
	if digits(s) == s {
		size = digitWindow
	}
	if r := []rune(s); len(r) < size {
		n.short = append(n.short, s, reversed(s))
		return
	}
	for _, s := range []string{s, reversed(s)} {
		eachWindow(s, size, func(gram string) bool { n.grams[gram] = true; return false })
	}
}

// eachWindow calls f with each run of size runes until it says true.
func eachWindow(s string, size int, f func(string) bool) bool {
	r := []rune(s)
	for i := 0; i+size <= len(r); i++ {
		if f(string(r[i : i+size])) {
			return true
		}
	}
	return false
}

// in says whether a text, or what it decodes to, has a NoAI value or a piece of one.
func (n needles) in(text string) bool {
	forms, all := decodings(text)
	if !all {
		return true // more layers than are looked through: taken for a disguise
	}
	for _, f := range forms {
		if n.inPlain(f) {
			return true
		}
	}
	return false
}

func (n needles) inPlain(text string) bool {
	s := skeleton(text)
	for _, b := range n.bare {
		if strings.Contains(text, b) {
			return true
		}
	}
	for _, view := range []string{s, digits(s)} {
		for _, short := range n.short {
			if strings.Contains(view, short) {
				return true
			}
		}
		hit := func(gram string) bool { return n.grams[gram] }
		if eachWindow(view, window, hit) || eachWindow(view, digitWindow, hit) {
			return true
		}
	}
	return false
}
