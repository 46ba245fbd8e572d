package ui4a

import (
	"fmt"
	"slices"
	"strings"
)

func (c *Case) contentChecks(e Evidence) []Check {
	all := e.allText()
	facts := c.Facts.find(all + "\n" + e.Behind) // a tab that does not open is the affair of another layer
	var never []Finding
	for _, f := range c.Never.find(all) {
		never = append(never, finding("not: "+f.What, f.Pass == 0, ""))
	}
	var computed []Finding
	for _, x := range c.Computed {
		if c.came(x.After, e) {
			computed = append(computed, x.finding(e))
		}
	}
	same, how := inLanguage(e.Start.Text, c.Language)
	return []Check{
		check("facts", 50, facts...),
		check("nothing wrong", 20, never...),
		check("computed", 20, computed...),
		check("language", 10, finding("it is in the request's language, "+c.Language, same && strings.TrimSpace(e.Start.Text) != "", how)),
	}
}

// came reports whether the first steps did what they should: a number that stands behind a
// control that does not work is the affair of another layer.
func (c *Case) came(steps int, e Evidence) bool {
	for i := range min(steps, len(e.Steps)) {
		if e.dead(e.Steps[i].Control) {
			return false
		}
		script, _ := StepFindings(c.Steps[i], e.Steps[i])
		for _, f := range script {
			if f.Pass < 1 {
				return false
			}
		}
	}
	return steps <= len(e.Steps)
}

// dead reports whether nothing came of a control, "role name", when it was tried.
func (e Evidence) dead(control string) bool {
	return slices.ContainsFunc(e.Operated, func(o Operated) bool { return !o.Effect && o.Role+" "+o.Name == control })
}

// allText is everything that a person comes to read.
func (e Evidence) allText() string {
	texts := []string{e.Start.Text}
	for _, s := range e.Steps {
		texts = append(texts, s.After.Text)
	}
	return strings.Join(append(texts, e.Seen...), "\n")
}

func (x Computed) finding(e Evidence) Finding {
	v, err := Formula(x.Formula, x.With)
	if err != nil {
		return Finding{What: x.Name, Evidence: err.Error()}
	}
	text := e.Start.Text
	if x.After > 0 {
		text = ""
		if x.After <= len(e.Steps) {
			text = e.Steps[x.After-1].After.Text
		}
	}
	decimals := 2
	if x.Decimals != nil {
		decimals = *x.Decimals
	}
	return finding(fmt.Sprintf("%s = %s is %v", x.Name, x.Formula, v), shows(numbers(normal(text)), v, decimals), "")
}
