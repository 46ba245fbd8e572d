package ui4a

import (
	"fmt"
	"strconv"
	"strings"
)

// StepFindings judges what came of a step: that it could be done and left what must hold,
// and that the right Actions came of it.
func StepFindings(s Step, r StepResult) (script, actions []Finding) {
	what := fmt.Sprintf("step %d, %s", r.Step, s)
	script = append(script, finding(what, r.Done, r.Why))
	if !r.Done {
		for range s.Then.Shows {
			script = append(script, Finding{What: what + ": shows"})
		}
		for _, x := range s.Then.Controls {
			script = append(script, Finding{What: what + ": " + x.String()})
		}
		for range s.Then.Actions {
			actions = append(actions, Finding{What: what + ": Action"})
		}
		return script, actions
	}
	text := normal(r.After.Text)
	for _, t := range s.Then.Shows {
		script = append(script, finding(what+": shows "+strconv.Quote(t), holds(text, t), ""))
	}
	for _, t := range s.Then.Hides {
		script = append(script, finding(what+": hides "+strconv.Quote(t), !holds(text, t), ""))
	}
	for _, x := range s.Then.Controls {
		ok, why := x.holds(r.After.Widgets, r.Roles)
		script = append(script, finding(what+": "+x.String(), ok, why))
	}
	return script, s.Then.actionFindings(what, r.Actions)
}

// String tells a step as a person would.
func (s Step) String() string {
	switch {
	case s.Do == "click":
		return "click " + s.Control.String()
	case s.Name == "" && s.Role == "":
		return s.Do + " " + s.Value
	}
	return s.Do + " " + s.Control.String() + " to " + s.Value
}

// String tells a state as a person would.
func (x State) String() string {
	if x.Is == "value" {
		return x.Control.String() + " has the value " + x.Value
	}
	return x.Control.String() + " is " + x.Is
}

func (x State) holds(widgets []Widget, roles []Element) (ok bool, why string) {
	w, found := x.One(widgets)
	if x.Is == "present" || x.Is == "absent" {
		for _, e := range roles {
			found = found || x.matches(e.Role, e.Name)
		}
		return found == (x.Is == "present"), ""
	}
	if !found {
		return false, "there is none"
	}
	yes := func(b *bool) bool { return b != nil && *b }
	switch x.Is {
	case "checked":
		return yes(w.Checked), ""
	case "unchecked":
		return !yes(w.Checked), ""
	case "enabled":
		return !w.Disabled, ""
	case "disabled":
		return w.Disabled, ""
	case "expanded":
		return yes(w.Expanded), ""
	case "collapsed":
		return !yes(w.Expanded), ""
	}
	return sameValue(w.Value, x.Value), "it is " + strconv.Quote(w.Value)
}

// sameValue compares what stands in a field: numbers as numbers, texts as they are read.
func sameValue(got, want string) bool {
	if v, err := strconv.ParseFloat(want, 64); err == nil {
		return shows(numbers(normal(got)), v, 6)
	}
	return normal(got) == normal(want)
}

func (t Then) actionFindings(what string, sent []Sent) []Finding {
	var found []Finding
	switch {
	case t.Quiet:
		return []Finding{finding(what+": no Action", len(sent) == 0, fmt.Sprintf("%d came", len(sent)))}
	case len(t.Actions) == 0:
		return nil
	}
	found = append(found, finding(fmt.Sprintf("%s: exactly %d Action(s)", what, len(t.Actions)), len(sent) == len(t.Actions), fmt.Sprintf("%d came", len(sent))))
	for i, want := range t.Actions {
		if i >= len(sent) {
			found = append(found, Finding{What: what + ": what the Action carries", Evidence: "none came"})
			continue
		}
		found = append(found, want.findings(what, sent[i])...)
	}
	return found
}

func (o Outcome) findings(what string, a Sent) []Finding {
	saw, all := normal(a.Saw), numbers(normal(a.Saw))
	found := []Finding{finding(what+": the Action is well-formed and reaches the model", a.Valid && a.Outcome == "sent", strings.TrimSpace(a.Outcome+" "+a.Reason))}
	if o.Name != "" {
		found = append(found, finding(what+": its name is like /"+o.Name+"/", nameLike(o.Name, a.Name+" "+a.Saw), a.Name))
	}
	for _, t := range o.Carries {
		found = append(found, finding(what+": it carries "+strconv.Quote(t), holds(saw, t), a.Saw))
	}
	for _, v := range o.Numbers {
		found = append(found, finding(fmt.Sprintf("%s: it carries %v", what, v), shows(all, v, 6), a.Saw))
	}
	for _, t := range o.Lacks {
		found = append(found, finding(what+": it does not carry "+strconv.Quote(t), !holds(saw, t), a.Saw))
	}
	return found
}
