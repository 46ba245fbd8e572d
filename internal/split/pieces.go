package split

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxPieces bounds the pieces of a request that may be split: a longer text is material,
// not a list of wishes.
const MaxPieces = 8

// sentence ends a sentence: its mark with the space behind it, a line's end, a semicolon.
var sentence = regexp.MustCompile(`[.!?…]+["')\]]*\s+|[。！？；]+|;\s+|\s*\n+\s*`)

// joint stands between two wishes of one sentence. A bare "and" cuts too: pieces that go
// to one specialist are put together again.
var joint = regexp.MustCompile(`(?i),?\s+(?:` + strings.Join([]string{
	`and (?:then|also|after that|finally)`, `then`, `also`, `plus`, `and`,
	`und (?:dann|danach|au(?:ß|ss)erdem)`, `und`, `dann`, `danach`, `au(?:ß|ss)erdem`,
	`et (?:puis|ensuite|aussi)`, `et`, `puis`, `ensuite`,
	`y (?:luego|despu(?:é|e)s|tambi(?:é|e)n)`, `y`, `luego`,
	`e (?:depois|tamb(?:é|e)m)`, `e`, `depois`,
}, "|") + `),?\s+|[，,、]?(?:然后|并且|另外|还有|同时|再)|(?:それから|あと、|そして)`)

// back is how a piece begins, or what it has, that builds on the piece before it.
var back = regexp.MustCompile(`(?i)\b(?:it|its|that|this|them|those|these|result|es|das|davon|damit|daf(?:ü|u)r|daraus|ergebnis|ça|cela|celui-ci|résultat|eso|esto|ello|lo|resultado|isso|isto|ele|dela|dele)\b|[它这那]|それ|その|これ`)

// mark is what of a text is never cut: code, quotations.
var mark = regexp.MustCompile("(?s)```.*?(?:```|$)|`[^`\\n]*`|\"[^\"\\n]*\"|“[^”\\n]*”|「[^」\\n]*」|«[^»\\n]*»")

// Pieces cuts a request into sentences, and those where two wishes may meet. The pieces are
// the request's own words, trimmed. One piece, or more than MaxPieces, means that there is
// nothing to split.
func Pieces(text string) []string {
	var pieces []string
	for _, s := range cut(text, sentence, 1) {
		pieces = append(pieces, cut(s, joint, shortest)...)
	}
	if len(pieces) > MaxPieces {
		return nil
	}
	return pieces
}

// shortest is the weight of what may stand on either side of a joint.
const shortest = 3

// cut divides a text where the expression matches outside of marks, and both sides have
// weight. What matches goes with the piece before it if it has marks of its own to keep.
func cut(text string, at *regexp.Regexp, least int) []string {
	kept := mark.FindAllStringIndex(text, -1)
	var out []string
	from := 0
	for _, m := range at.FindAllStringIndex(text, -1) {
		if within(kept, m[0]) {
			continue
		}
		end := m[0] + len(punctuation(text[m[0]:m[1]]))
		left := strings.TrimSpace(text[from:end])
		if weight(left) < least || weight(text[m[1]:]) < least {
			continue
		}
		out, from = append(out, left), m[1]
	}
	if rest := strings.TrimSpace(text[from:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

func within(spans [][]int, at int) bool {
	for _, s := range spans {
		if s[0] <= at && at < s[1] {
			return true
		}
	}
	return false
}

// punctuation is the part of a cut that stays: the marks that end a sentence.
func punctuation(s string) string {
	n := 0
	for i, r := range s {
		if !strings.ContainsRune(".!?…。！？\"')]", r) {
			break
		}
		n = i + utf8.RuneLen(r)
	}
	return s[:n]
}

// weight is how much a text says: its words, or of scripts without spaces half its letters.
func weight(s string) int {
	n := 0
	for _, w := range strings.Fields(s) {
		wide := 0
		for _, r := range w {
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
				wide++
			}
		}
		n += max(1, wide/2)
	}
	return n
}

// refersBack reports whether a piece builds on what was said before it.
func refersBack(piece string) bool { return back.MatchString(piece) }

// counts reports whether a piece may have a specialist of its own.
func (v Vote) counts(least float64) bool {
	p, known := v.Probabilities[v.Label]
	return weight(v.Piece) >= shortest && (!known || p >= least)
}
