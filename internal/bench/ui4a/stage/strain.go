package stage

import (
	"slices"
	"strings"

	"macaron/internal/bench/ui4a"
	"macaron/internal/browser"
)

// mostStrained bounds how many controls of a card are strained.
const mostStrained = 8

// strained is what has been done to a card that it must survive.
type strained struct {
	done map[string]bool // controls, by key
	bad  []string        // what went wrong
}

// strain empties fields and fills them with far too much, and presses buttons twice in a
// row. It begins where the card has come to; what was there at first and is gone or off by
// then is strained on a card that nobody has used.
func (x *screen) strain(e *ui4a.Evidence, first []ui4a.Widget, before []string, mount mounter) error {
	s := strained{done: map[string]bool{}}
	if err := s.all(x, before); err != nil {
		return err
	}
	if err := x.told(e); err != nil {
		return err
	}
	if _, _, ok := s.next(first, nil); ok {
		if err := s.anew(e, mount); err != nil {
			return err
		}
	}
	slices.Sort(s.bad)
	e.Strain = slices.Compact(s.bad)
	return nil
}

// anew goes on with a card that was mounted once more.
func (s *strained) anew(e *ui4a.Evidence, mount mounter) error {
	x, why, err := mount()
	if err != nil {
		return err
	}
	defer x.close()
	if why != "" {
		return nil // a second mount that is not the first is another check's affair
	}
	before, err := x.broken()
	if err != nil {
		return err
	}
	if err := s.all(x, before); err != nil {
		return err
	}
	return x.told(e)
}

// all strains one control after the other, also those that come into sight meanwhile, and
// keeps what went wrong, apart from what had before.
func (s *strained) all(x *screen, before []string) error {
	tried := map[string]bool{}
	for len(tried) < 2*mostStrained {
		now, err := x.state()
		if err != nil {
			return err
		}
		w, key, ok := s.next(now.Widgets, tried)
		if !ok {
			break
		}
		tried[key] = true
		why, err := x.strainOne(w)
		if err != nil {
			return err
		}
		if why == "" {
			s.done[key] = true
		}
	}
	if _, err := browser.Look[bool](x.doc, "probe.settled(300)"); err != nil {
		return err
	}
	after, err := x.broken()
	s.bad = append(s.bad, slices.DeleteFunc(after, func(s string) bool { return slices.Contains(before, s) })...)
	return err
}

// next gives a control that was not strained and not tried; none once there were enough.
func (s *strained) next(widgets []ui4a.Widget, tried map[string]bool) (ui4a.Widget, string, bool) {
	for key, w := range keyed(widgets) {
		if len(s.done) < mostStrained && !s.done[key] && !tried[key] && strainable(w) {
			return w, key, true
		}
	}
	return ui4a.Widget{}, "", false
}

// strainable: buttons, and fields that take a text or can be empty.
func strainable(w ui4a.Widget) bool {
	return !w.Disabled && !w.ReadOnly && (w.Role == "button" || len(overdone(w)) > 0)
}

// overdone gives the texts that a field must survive: one that is far too long, and none.
// The browser itself refuses a text that is no date.
func overdone(w ui4a.Widget) []string {
	switch w.Role {
	case "textbox", "searchbox", "spinbutton":
	default:
		return nil
	}
	switch w.Type {
	case "color":
		return nil
	case "date", "time", "month", "week", "datetime-local":
		return []string{""}
	}
	return []string{strings.Repeat("9", 400), ""}
}

// strainOne does its worst to a control; why tells what kept it from doing so.
func (x *screen) strainOne(w ui4a.Widget) (why string, err error) {
	for _, text := range overdone(w) {
		if why, err := x.fill(w, text); err != nil || why != "" {
			return why, err
		}
	}
	if w.Role != "button" {
		return "", nil
	}
	if why, err := x.click(w, 2); err != nil || why != "" {
		return why, err
	}
	return "", x.confirm()
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
