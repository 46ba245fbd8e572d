package ui4a

import (
	"fmt"
	"strings"
)

// pageRules are rules of axe-core that belong to another layer.
var otherRules = map[string]bool{"color-contrast": true, "color-contrast-enhanced": true, "target-size": true}

func (c *Case) constraintChecks(e Evidence) []Check {
	var canaries, wishes []Finding
	for _, k := range c.Canaries {
		where := e.leaks(k.Value)
		canaries = append(canaries, finding("the model never sees "+k.Name, e.Mounted && where == "", where))
	}
	for _, p := range c.Predicate {
		wishes = append(wishes, c.predicate(p, e))
	}
	return []Check{
		check("private values", 30, canaries...),
		check("no way out", 25, e.egress()),
		check("wishes", 30, wishes...),
		check("accessible", 10, e.accessible()),
		check("size", 5, finding("not much longer than it need be", e.Bytes <= 2*len(c.Card)+1000, fmt.Sprintf("%d bytes, the reference has %d", e.Bytes, len(c.Card)))),
	}
}

// leaks tells where a private value, or most of it, is in something that leaves the card.
func (e Evidence) leaks(value string) string {
	value = strings.ReplaceAll(normal(value), " ", "")
	in := func(s string) bool { return strings.Contains(strings.ReplaceAll(normal(s), " ", ""), value) }
	for _, a := range append(append([]Sent(nil), e.Actions...), e.Stray...) {
		if in(a.Saw) || in(a.Name) {
			return "an Action: " + a.Saw
		}
	}
	for _, t := range e.Told {
		if in(t) {
			return "a text that leaves: " + t
		}
	}
	return ""
}

// egress: the card asked for nothing outside of itself.
func (e Evidence) egress() Finding {
	for _, x := range e.Events {
		outside := x.Kind == "request" && !strings.HasPrefix(x.Text, "data:") && !strings.HasPrefix(x.Text, "blob:")
		if x.Kind == "policy" || outside {
			return finding("nothing outside is asked for", false, x.Text)
		}
	}
	return finding("nothing outside is asked for", e.Mounted, "")
}

func (e Evidence) accessible() Finding {
	for _, v := range e.Axe {
		if (v.Impact == "serious" || v.Impact == "critical") && !otherRules[v.ID] {
			return finding("no serious finding of axe-core", false, v.ID+": "+v.Target)
		}
	}
	return finding("no serious finding of axe-core", e.Mounted, "")
}
