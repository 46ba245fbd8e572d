package ui4a

import (
	"regexp"
	"slices"
	"strings"
)

// matches reports whether a role and a name are what a case asks for.
func (c Control) matches(role, name string) bool {
	if c.Role != "" && !slices.Contains(strings.Split(c.Role, "|"), role) {
		return false
	}
	return c.Name == "" || nameLike(c.Name, name)
}

func nameLike(expression, name string) bool {
	return regexp.MustCompile("(?i)" + expression).MatchString(name) // the reader has compiled it
}

// In gives the controls that are meant, in the order of the document; those whose whole
// name fits before those where it is a part.
func (c Control) In(widgets []Widget) []Widget {
	var whole, part []Widget
	for _, w := range widgets {
		switch {
		case !c.matches(w.Role, w.Name):
		case c.Name != "" && nameLike("^(?:"+c.Name+")$", strings.TrimSpace(w.Name)):
			whole = append(whole, w)
		default:
			part = append(part, w)
		}
	}
	return append(whole, part...)
}

// One gives the control that is meant.
func (c Control) One(widgets []Widget) (Widget, bool) {
	all := c.In(widgets)
	if c.Nth >= len(all) {
		return Widget{}, false
	}
	return all[c.Nth], true
}

// String tells a control as a person would.
func (c Control) String() string {
	role := strings.ReplaceAll(c.Role, "|", " or ")
	if role == "" {
		role = "control"
	}
	if c.Name == "" {
		return role
	}
	return role + " /" + c.Name + "/"
}

// optionRoles are what can be chosen, the likeliest first.
var optionRoles = []string{"radio", "option", "tab", "menuitemradio", "checkbox", "menuitemcheckbox", "switch", "button", "menuitem", "link"}

// Options gives the controls that stand for a choice, the likeliest first: within the
// group that is named, where one is.
func (s Step) Options(widgets []Widget) []Widget {
	var found []Widget
	for _, role := range optionRoles {
		for _, w := range (Control{Role: role, Name: s.Value}).In(widgets) {
			if s.Name == "" || w.GroupName == "" || nameLike(s.Name, w.GroupName) {
				found = append(found, w)
			}
		}
	}
	return found
}

// Lists gives the native lists that have the choice, and the place in each.
func (s Step) Lists(widgets []Widget) (list Widget, option int, ok bool) {
	for _, w := range widgets {
		if len(w.Options) == 0 || s.Name != "" && !nameLike(s.Name, w.Name) {
			continue
		}
		for _, expression := range []string{"^(?:" + s.Value + ")$", s.Value} {
			if i := slices.IndexFunc(w.Options, func(o string) bool { return nameLike(expression, o) }); i >= 0 {
				return w, i, true
			}
		}
	}
	return Widget{}, 0, false
}
