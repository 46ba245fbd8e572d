// Package text is the world of text transformations: a short text stands in the request, and
// what becomes of it is judged exactly. Each tool does one step on the text as the steps
// before it have left it; the answer may also be given directly.
package text

import "macaron/internal/mindforge/world"

// New makes the world.
func New() world.World {
	return world.New(world.Rules[*page]{
		Name: "text", Functions: functions, Families: families, Tails: tails, Formats: formats, Serial: true,
		Begin: func(string, int) *page { return &page{} },
		Free:  func(f world.Free) (*page, error) { return &page{f.Text}, nil },
		Copy:  func(p *page) *page { return &page{p.text} },
	})
}

// page is the text as it stands.
type page struct{ text string }

// The kinds of answers.
const (
	number = "number"
	line   = "line"
)

var formats = map[string]string{
	number: "Answer with the number alone.", line: "Answer with the resulting text alone.",
}
