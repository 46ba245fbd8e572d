// Package ui4a holds the words of UI4A, interfaces that a model writes as one TSX
// module: what is wrong with a card, how large it may be, where it stands in an
// answer, and how a surface, the place where a card lives, is named. It does no I/O.
//
// The rooms below it: library (what a card may import), compile (TSX to one
// script), stream (half-written cards), runtime (the browser's side).
package ui4a

import "fmt"

// Bounds on a card. Everything is checked before a parser sees the source.
const (
	MaxSource      = 256 << 10 // bytes of one card
	MaxNesting     = 100       // brackets, elements and template expressions open at once
	MaxLine        = 64 << 10  // bytes of one line
	MaxDiagnostics = 50        // told of one card; a model reads no more
	MaxFences      = 32        // cards in one answer
	MaxCanvases    = 32        // canvases of one conversation
)

// Severity says whether a card runs in spite of what was found.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the card does not compile, or would certainly fail
	Warning Severity = "warning" // the card runs; something in it is probably not meant
)

// Diagnostic is one finding in a card, for people and for the model that repairs it.
type Diagnostic struct {
	Code     string   `json:"code"` // a member of the table in docs/formats/ui4a.md
	Severity Severity `json:"severity"`
	Line     int      `json:"line"`   // from 1; 0 for the card as a whole
	Column   int      `json:"column"` // from 1, in characters; 0 for the card as a whole
	Message  string   `json:"message"`
	Fix      string   `json:"fix"` // what to write instead; never empty
}

// String is the form that compilers print: LINE:COLUMN: severity: message [code]; fix.
func (d Diagnostic) String() string {
	return fmt.Sprintf("%d:%d: %s: %s [%s]; %s", d.Line, d.Column, d.Severity, d.Message, d.Code, d.Fix)
}

// HeadingOrder is the finding of a level of headings that is left out: told with others, and
// no reason for a repair of its own.
const HeadingOrder = "heading-order"

// Accessibility says that some people cannot use the card, or not well.
func (d Diagnostic) Accessibility() bool {
	switch d.Code {
	case "missing-name", "missing-label", "missing-alt", "low-contrast", HeadingOrder:
		return true
	}
	return false
}

// Failed says whether any of them is an error.
func Failed(list []Diagnostic) bool {
	for _, d := range list {
		if d.Severity == Error {
			return true
		}
	}
	return false
}
