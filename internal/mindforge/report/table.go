package report

import (
	"fmt"
	"strings"
)

// Markdown is a coverage for a page of results: what each arm came to, and the curves.
func (c Coverage) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %d tasks of %d families | covered, %% | attempts | on other tasks before | pass again on a fresh seed, %% |\n|---|---|---|---|---|\n", c.Items, c.Families)
	for _, a := range c.Arms {
		again, attempts := "", 0
		if a.Replayed != nil {
			again = fmt.Sprintf("%s, n = %d", a.Replayed, a.Replayed.N)
		}
		if at := a.End(); at != nil {
			attempts = at.Attempts
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %s |\n", named(a.Name), a.Covered(), attempts, a.Practice, again)
	}
	b.WriteString("\n| attempts of a task |")
	for _, a := range c.Arms {
		b.WriteString(" " + named(a.Name) + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(c.Arms)) + "\n")
	for round := 1; round <= c.rounds(); round++ {
		fmt.Fprintf(&b, "| %d |", round)
		for _, a := range c.Arms {
			if at := a.End(); at != nil { // an arm that has covered everything stays there
				at = &a.Curve[min(round, len(a.Curve))-1]
				fmt.Fprintf(&b, " %s", at.Covered)
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	if c.Command != "" {
		fmt.Fprintf(&b, "\n`%s`\n", c.Command)
	}
	return b.String()
}

func (c Coverage) rounds() (n int) {
	for _, a := range c.Arms {
		n = max(n, len(a.Curve))
	}
	return n
}

// named is a name in a table.
func named(s string) string {
	return strings.NewReplacer("|", "/", "`", "'", "<", "(", ">", ")").Replace(plain(s))
}
