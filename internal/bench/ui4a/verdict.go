package ui4a

import (
	"regexp"
	"strings"
)

// Verdict is a judge's answer to one question: yes is good, and Quote is what in the
// evidence says so.
type Verdict struct {
	Question string `json:"question"`
	Yes      bool   `json:"yes"`
	Quote    string `json:"quote"`
	Picture  bool   `json:"picture,omitempty"` // the judge saw the card's picture, so that the quote may describe it
}

// Verdicts are the answers by layer.
type Verdicts map[string][]Verdict

// gap is where a quote leaves something out, or goes on with another one.
var gap = regexp.MustCompile(`\.{3}|…|;|\n`)

// holds reports whether a yes rests on something: a judge of text quotes what can be read on
// the card, piece by piece; one that saw the picture says at least something.
func (v Verdict) holds(e Evidence) bool {
	if !v.Yes || v.Picture {
		return v.Yes && normal(v.Quote) != ""
	}
	var all strings.Builder
	all.WriteString(e.Start.Text)
	for _, w := range e.Start.Widgets {
		all.WriteString(" \n" + w.Role + " " + w.Name)
	}
	text, pieces := normal(all.String()), 0
	for _, piece := range gap.Split(v.Quote, -1) {
		if piece = strings.Trim(normal(piece), `"'.,: `); piece == "" {
			continue
		}
		if pieces++; !strings.Contains(text, piece) {
			return false
		}
	}
	return pieces > 0
}

// finding is what the score says of the verdict.
func (v Verdict) finding(e Evidence) Finding {
	said := v.Quote
	if v.Yes && !v.holds(e) {
		said = "yes, but the quote is not on the card: " + said
	}
	return finding(v.Question, v.holds(e), said)
}
