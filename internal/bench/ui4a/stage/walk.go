package stage

import (
	"slices"
	"time"

	"macaron/internal/bench/ui4a"
	"macaron/internal/browser"
)

// walk does the steps of a case, each whatever became of those before, and calls shot after
// each.
func (x *screen) walk(c *ui4a.Case, shot func(name string) error) ([]ui4a.StepResult, error) {
	var out []ui4a.StepResult
	for i, s := range c.Steps {
		r := ui4a.StepResult{Step: i + 1}
		before, err := x.sent()
		if err != nil {
			return out, err
		}
		if err := x.step(s, &r, before); err != nil {
			return out, err
		}
		if err := shot(stepName(i + 1)); err != nil {
			return out, err
		}
		out = append(out, r)
	}
	return out, nil
}

// step does one step and waits until what must hold does, for a second at most.
func (x *screen) step(s ui4a.Step, r *ui4a.StepResult, before []ui4a.Sent) error {
	start, err := x.state()
	if err != nil {
		return err
	}
	from, err := x.mark(start.Hash)
	if err != nil {
		return err
	}
	w, why, err := x.act(s, start)
	if err != nil {
		return err
	}
	r.Done, r.Why, r.Control = why == "", why, w.Role+" "+w.Name
	if r.Done {
		if _, err := x.came(from, 400*time.Millisecond); err != nil {
			return err
		}
	}
	for end := time.Now().Add(time.Second); ; time.Sleep(40 * time.Millisecond) {
		if err := x.record(s, r, len(before)); err != nil || !r.Done || time.Now().After(end) || met(s, *r) {
			return err
		}
	}
}

// record takes the state after a step; roles of all elements, which the browser is slow to
// give, where the step asks what is there.
func (x *screen) record(s ui4a.Step, r *ui4a.StepResult, sentBefore int) error {
	if _, err := browser.Look[bool](x.doc, "probe.settled(400)"); err != nil {
		return err
	}
	var err error
	if r.After, err = x.state(); err != nil {
		return err
	}
	if slices.ContainsFunc(s.Then.Controls, func(c ui4a.State) bool { return c.Is == "present" || c.Is == "absent" }) {
		if r.Roles, err = browser.Look[[]ui4a.Element](x.doc, "probe.roles()"); err != nil {
			return err
		}
	}
	sent, err := x.sent()
	if err == nil && len(sent) >= sentBefore {
		r.Actions = sent[sentBefore:]
	}
	return err
}

func met(s ui4a.Step, r ui4a.StepResult) bool {
	script, actions := ui4a.StepFindings(s, r)
	for _, f := range append(script, actions...) {
		if f.Pass < 1 {
			return false
		}
	}
	return true
}

// act does the step's gesture to the control that it means.
func (x *screen) act(s ui4a.Step, now ui4a.Snapshot) (w ui4a.Widget, why string, err error) {
	if s.Do == "select" {
		return x.choose(s, now, true)
	}
	if s.Do == "key" && s.Name == "" && s.Role == "" {
		return w, "", x.tab.page.Press(keyCodes[s.Value])
	}
	target := s.Control
	if target.Role == "" {
		target.Role = defaultRoles[s.Do]
	}
	w, ok := target.One(now.Widgets)
	switch {
	case !ok:
		return w, "there is no " + target.String(), nil
	case w.Disabled:
		return w, w.Role + " " + w.Name + " is disabled", nil
	}
	switch s.Do {
	case "click":
		why, err = x.click(w, 1)
	case "type":
		why, err = x.fill(w, s.Value)
	case "slide":
		if len(w.Options) > 0 {
			_, why, err = x.choose(ui4a.Step{Do: "select", Value: "^" + s.Value + "\\b"}, ui4a.Snapshot{Widgets: []ui4a.Widget{w}}, false)
			return w, why, err
		}
		why, err = x.set(w, s.Value)
	case "key":
		if ok, err = x.focus(w); err == nil && ok {
			err = x.tab.page.Press(keyCodes[s.Value])
		}
		why = whyNot(ok, "it takes no focus")
	}
	return w, why, err
}

// defaultRoles are those of a gesture where the case names none.
var defaultRoles = map[string]string{
	"click": "button|link|checkbox|radio|switch|tab|option|menuitem|menuitemradio|menuitemcheckbox|treeitem",
	"type":  "textbox|searchbox|spinbutton|combobox",
	"slide": "slider|spinbutton|combobox|textbox",
	"key":   "",
}

// choose chooses an option, of whatever kind it is; a list that has to be opened first is.
func (x *screen) choose(s ui4a.Step, now ui4a.Snapshot, open bool) (w ui4a.Widget, why string, err error) {
	if list, option, ok := s.Lists(now.Widgets); ok {
		why, err = x.pick(list, option)
		return list, why, err
	}
	for _, w = range s.Options(now.Widgets) {
		if !w.Disabled {
			why, err = x.click(w, 1)
			return w, why, err
		}
		why = w.Role + " " + w.Name + " is disabled"
	}
	if !open || why != "" {
		return w, whyNot(why != "", "there is no option like "+s.Value) + why, nil
	}
	box, ok := (ui4a.Control{Role: "combobox", Name: s.Name}).One(now.Widgets)
	if !ok {
		return w, "there is no option like " + s.Value, nil
	}
	before, err := x.mark(now.Hash)
	if err != nil {
		return box, "", err
	}
	if why, err := x.click(box, 1); err != nil || why != "" {
		return box, why, err
	}
	if _, err := x.came(mark{hash: now.Hash, left: before.left, states: -1}, 300*time.Millisecond); err != nil {
		return box, "", err
	}
	if now, err = x.state(); err != nil {
		return box, "", err
	}
	return x.choose(s, now, false)
}
