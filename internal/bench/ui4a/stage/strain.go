package stage

import (
	"slices"
	"strings"

	"macaron/internal/browser"
)

// strain is what a card must survive: fields emptied and filled with far too much, buttons
// pressed twice in a row. It gives what went wrong, apart from what had gone wrong before.
func (x *screen) strain(before []string) ([]string, error) {
	now, err := x.state()
	if err != nil {
		return nil, err
	}
	const most = 8
	n := 0
	for _, w := range now.Widgets {
		if w.Disabled || w.ReadOnly || n == most {
			continue
		}
		switch {
		case w.Role == "textbox" || w.Role == "searchbox" || w.Role == "spinbutton":
			if w.Type == "date" || w.Type == "time" || w.Type == "month" || w.Type == "color" {
				continue
			}
			for _, text := range []string{strings.Repeat("9", 400), ""} {
				if _, err := x.fill(w, text); err != nil {
					return nil, err
				}
			}
		case w.Role == "button":
			if _, err := x.click(w, 2); err != nil {
				return nil, err
			}
			if err := x.confirm(); err != nil {
				return nil, err
			}
		default:
			continue
		}
		n++
	}
	if _, err := browser.Look[bool](x.doc, "probe.settled(300)"); err != nil {
		return nil, err
	}
	after, err := x.broken()
	return slices.DeleteFunc(after, func(s string) bool { return slices.Contains(before, s) }), err
}

// broken gives every error so far, and whether the card is still there.
func (x *screen) broken() ([]string, error) {
	var bad []string
	for _, e := range x.doc.Events() {
		if e.Kind == "error" || e.Kind == "exception" {
			bad = append(bad, e.Text)
		}
	}
	if x.surface != "" {
		why, err := x.failed()
		if err != nil {
			return nil, err
		}
		if why != "" {
			bad = append(bad, why)
		}
	}
	seen, err := browser.Look[int](x.doc, `probe.text().trim().length + probe.charts()`)
	if err == nil && seen == 0 {
		bad = append(bad, "nothing is left of the card")
	}
	return bad, err
}
