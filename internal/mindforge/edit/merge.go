package edit

import (
	"cmp"
	"slices"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
)

// Meet reports whether two edits touch one component, or one touches what is inside the
// other's.
func Meet(a, b mindforge.Edit) bool {
	return inside(a.Component, b.Component) || inside(b.Component, a.Component)
}

func inside(path, outer string) bool {
	return path == outer || strings.HasPrefix(path, outer+".") || strings.HasPrefix(path, outer+"#")
}

// Merge gives the edits of two candidates of one base together, in one order whichever came
// first. Equal edits count once; two that meet and differ cannot be merged.
func Merge(a, b []mindforge.Edit) ([]mindforge.Edit, error) {
	out := slices.Clone(a)
	for _, e := range b {
		if slices.Contains(a, e) {
			continue
		}
		if i := slices.IndexFunc(a, func(o mindforge.Edit) bool { return Meet(e, o) }); i >= 0 {
			return nil, badf("merge candidates that touch different components", "both touch %s", errs.Clip(e.Component))
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(x, y mindforge.Edit) int { return cmp.Compare(x.Component, y.Component) })
	return out, nil
}

// Ablate takes one edit back: the others are made anew on the base, those that go inside of
// what it had added left out.
func Ablate(base *contract.Contract, edits []mindforge.Edit, n int) ([]mindforge.Edit, *contract.Contract, error) {
	left := make([]mindforge.Edit, 0, len(edits))
	for i, e := range edits {
		if i != n && (i < n || !inside(e.Component, edits[n].Component)) {
			left = append(left, e)
		}
	}
	c, err := Apply(base, left...)
	return left, c, err
}

// Removal is the edit that takes an entry in words away: a line of a prompt, or a skill.
func Removal(component string) (mindforge.Edit, error) {
	for _, k := range []string{"prompt.remove", "skill.remove"} {
		e := mindforge.Edit{Kind: k, Component: component}
		if _, err := Check(e); err == nil {
			return e, nil
		}
	}
	return mindforge.Edit{}, badf("name a line, such as agent.prompts.system#ID, or a skill, such as skills.NAME", "%q is no entry in words", errs.Clip(component))
}

// Tuning reports whether edits change numbers alone. Such a difference is labelled so: it
// fits a contract to the items that it was chosen on, and carries no idea to others.
func Tuning(edits []mindforge.Edit) bool {
	for _, e := range edits {
		if k, err := kindOf(e.Kind); err != nil || !k.Tuning() {
			return false
		}
	}
	return len(edits) > 0
}

// shrunk is the share of its words below which a contract's texts have collapsed.
const shrunk = 0.5

// Shrinks reports whether the texts that a model reads have become less than half of what
// they were: an alarm, since a text that is written anew tends to lose what it knew.
func Shrinks(was, now *contract.Contract) bool {
	a, b := words(was), words(now)
	return a > 0 && float64(b) < shrunk*float64(a)
}

func words(c *contract.Contract) int {
	n := 0
	for _, s := range texts(c) {
		n += len(strings.Fields(s))
	}
	return n
}

// texts are those that a model reads in a run.
func texts(c *contract.Contract) []string {
	p := c.Agent.Prompts
	out := []string{p.System, p.REPL, p.Hybrid, p.Gate, p.Memory, p.Skills}
	if a, ok := c.Adapter(c.Agent.Adapter); ok {
		out = append(out, a.Prompt)
	}
	for _, s := range c.Skills {
		out = append(out, s.Description, s.Text)
	}
	for _, t := range c.Tools {
		out = append(out, t.Description)
	}
	return out
}
