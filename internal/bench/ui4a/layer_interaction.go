package ui4a

import (
	"fmt"
	"strconv"
)

func (c *Case) interactionChecks(e Evidence) []Check {
	var covered, script, actions []Finding
	for _, o := range e.Operated {
		covered = append(covered, finding(o.Role+" "+strconv.Quote(o.Name)+" does something", o.Effect, o.Why))
	}
	for i, s := range c.Steps {
		r := StepResult{Step: i + 1, Why: "it was not come to"}
		if i < len(e.Steps) {
			r = e.Steps[i]
		}
		a, b := StepFindings(s, r)
		script, actions = append(script, a...), append(actions, b...)
	}
	if len(actions)+len(e.Stray) > 0 {
		actions = append(actions, finding("no Action without a gesture", len(e.Stray) == 0, fmt.Sprintf("%d came", len(e.Stray))))
	}
	return []Check{
		check("every control works", 35, covered...),
		check("script", 35, script...),
		check("Actions", 15, actions...),
		check("keyboard", 10, e.Keyboard.findings()...),
		check("sturdy", 5, e.sturdy()...),
	}
}

func (k Keyboard) findings() []Finding {
	if k.Stops == 0 {
		return nil
	}
	reach := Finding{What: "Tab reaches every control", Pass: float64(k.Reached) / float64(k.Stops), Evidence: first(k.Missed)}
	seen := finding("focus is seen", len(k.Hidden) == 0, first(k.Hidden))
	found := []Finding{reach, seen}
	if k.Pressed > 0 {
		found = append(found, finding("Enter and Space work", len(k.Dead) == 0, first(k.Dead)))
	}
	return found
}

func (e Evidence) sturdy() []Finding {
	if !e.Shaken {
		return nil
	}
	return []Finding{finding("it survives double clicks, empty and overlong input", len(e.Strain) == 0, first(e.Strain))}
}
