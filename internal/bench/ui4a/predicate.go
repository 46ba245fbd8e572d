package ui4a

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// predicate judges one wish of the request.
func (c *Case) predicate(p Predicate, e Evidence) Finding {
	what := p.String()
	if !e.Mounted {
		return Finding{What: what}
	}
	text := normal(e.Start.Text)
	switch p.Is {
	case "at_most", "at_least", "exactly":
		n := 0
		for _, t := range p.Of {
			if holds(text, t) {
				n++
			}
		}
		return finding(what, p.Is == "at_most" && n <= p.N || p.Is == "at_least" && n >= p.N || p.Is == "exactly" && n == p.N, fmt.Sprintf("%d", n))
	case "order":
		return finding(what, inOrder(text, p.Of), "")
	case "first_view":
		first := normal(e.Layout.First)
		return finding(what, !slices.ContainsFunc(p.Of, func(t string) bool { return !holds(first, t) }), "")
	case "max_words":
		return finding(what, e.Layout.Words <= p.N, fmt.Sprintf("%d", e.Layout.Words))
	case "chart", "no_chart":
		return finding(what, (e.Charts > 0) == (p.Is == "chart"), fmt.Sprintf("%d", e.Charts))
	case "asset":
		ok := slices.ContainsFunc(e.Pictures, func(i Picture) bool { return i.Src == p.Value && i.OK && i.W >= 40 && i.H >= 40 })
		return finding(what, ok, fmt.Sprintf("%d pictures", len(e.Pictures)))
	case "single_choice", "multiple_choice":
		return p.choice(what, e)
	case "initial":
		return p.initial(what, e)
	}
	n := 0
	for _, x := range e.Roles {
		if p.matches(x.Role, x.Name) {
			n++
		}
	}
	switch p.Is {
	case "has":
		return finding(what, n > 0, "")
	case "lacks":
		return finding(what, n == 0, fmt.Sprintf("%d", n))
	case "count_at_most":
		return finding(what, n <= p.N, fmt.Sprintf("%d", n))
	}
	return finding(what, n >= p.N, fmt.Sprintf("%d", n))
}

// String tells a wish as a person would.
func (p Predicate) String() string {
	words := []string{p.Is}
	if p.Role != "" || p.Name != "" {
		words = append(words, p.Control.String())
	}
	if p.N > 0 {
		words = append(words, strconv.Itoa(p.N))
	}
	if p.Value != "" {
		words = append(words, p.Value)
	}
	if len(p.Of) > 0 {
		words = append(words, "of "+strings.Join(p.Of, ", "))
	}
	return strings.Join(words, " ")
}

func inOrder(text string, of []string) bool {
	last := -1
	for _, t := range of {
		at := -1
		for _, a := range strings.Split(t, "|") {
			if i := strings.Index(text, normal(a)); i >= 0 && (at < 0 || i < at) {
				at = i
			}
		}
		if at < 0 {
			continue
		}
		if at < last {
			return false
		}
		last = at
	}
	return true
}

// choice looks at every state that the card was in: how many of the options were on.
func (p Predicate) choice(what string, e Evidence) Finding {
	states := []Snapshot{e.Start}
	for _, s := range e.Steps {
		states = append(states, s.After)
	}
	most, there := 0, 0
	for _, s := range states {
		on, found := 0, 0
		for _, t := range p.Of {
			is, ok := optionOn(s.Widgets, t)
			if ok {
				found++
			}
			if is {
				on++
			}
		}
		most, there = max(most, on), max(there, found)
	}
	ok := there == len(p.Of) && (p.Is == "single_choice" && most <= 1 || p.Is == "multiple_choice" && (most > 1 || severalByRole(e.Start.Widgets, p.Of)))
	return finding(what, ok, fmt.Sprintf("%d of %d options are there, at most %d on at a time", there, len(p.Of), most))
}

// optionOn finds an option by its text: a control of its own, or an entry of a list.
func optionOn(widgets []Widget, text string) (on, found bool) {
	for _, w := range widgets {
		for _, o := range w.Options {
			if holds(normal(o), text) {
				return holds(normal(w.Value), text), true
			}
		}
		if slices.Contains(optionRoles, w.Role) && holds(normal(w.Name), text) {
			return w.Checked != nil && *w.Checked, true
		}
	}
	return false, false
}

// severalByRole: boxes to tick can all be on, whether the script does it or not.
func severalByRole(widgets []Widget, of []string) bool {
	for _, t := range of {
		if !slices.ContainsFunc(widgets, func(w Widget) bool {
			return (w.Role == "checkbox" || w.Role == "switch" || w.Role == "menuitemcheckbox") && holds(normal(w.Name), t)
		}) {
			return false
		}
	}
	return true
}

func (p Predicate) initial(what string, e Evidence) Finding {
	is := State{Control: p.Control, Is: p.Value}
	if !slices.Contains([]string{"enabled", "disabled", "checked", "unchecked"}, p.Value) {
		is.Is, is.Value = "value", p.Value
	}
	ok, why := is.holds(e.Start.Widgets, e.Roles)
	return finding(what, ok, why)
}
