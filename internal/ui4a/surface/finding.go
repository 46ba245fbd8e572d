package surface

import (
	"fmt"
	"slices"

	"macaron/internal/errs"
)

// Finding is what a page measured of a card as it stands there: which rule, of what kind
// of element, and which of them. All of it is from closed sets: no text of a card and no
// value that was typed can come this way.
type Finding struct {
	Rule string `json:"rule"`
	Kind string `json:"kind"`
	N    int    `json:"n"` // from 1, of those of its kind that are shown, in the order of the document
	Of   int    `json:"of"`
}

// The most findings of one revision, and the most elements of a kind.
const (
	maxFindings = 12
	maxOfKind   = 500
)

var findingRules = map[string]struct{ what, fix string }{
	"name":     {"has no accessible name", `write words in it, or give it label="…" (in HTML aria-label="…", or a <label> around it)`},
	"alt":      {"has no text for those who do not see it", `write alt="…", or alt="" if it says nothing`},
	"target":   {"is smaller than 24 by 24 px and close to another control", "make it larger with padding, or set it apart with a gap"},
	"overflow": {"is wider than the card, which scrolls sideways", "let it wrap or shrink (flex-wrap, min-w-0, w-full), or put it into a <div className=\"overflow-x-auto\">"},
}

var findingKinds = []string{"tab", "switch", "button", "checkbox", "radio", "slider", "select", "field", "link", "disclosure", "picture", "table", "box"}

// measured gives findings as the errors that a model reads; of a surface that holds a
// NoAI value it is not asked for.
func measured(all []Finding) []string {
	var out []string
	for _, f := range all {
		r, what := findingRules[f.Rule], fmt.Sprintf("%s %d of %d", f.Kind, f.N, f.Of)
		if f.Kind == "box" {
			what = "something"
		}
		out = append(out, fmt.Sprintf("accessibility: %s %s; %s", what, r.what, r.fix))
	}
	return out
}

// checkFindings refuses what no page measures.
func checkFindings(all []Finding) error {
	ok := len(all) <= maxFindings
	for _, f := range all {
		_, known := findingRules[f.Rule]
		ok = ok && known && slices.Contains(findingKinds, f.Kind) && f.N >= 1 && f.N <= f.Of && f.Of <= maxOfKind
	}
	if !ok {
		return errs.New(errs.InvalidRequest, "the findings are none, or more than a card has", "docs/formats/ui4a-chat.md has their rules and kinds").In("findings")
	}
	return nil
}
