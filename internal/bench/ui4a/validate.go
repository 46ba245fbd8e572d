package ui4a

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/abadojack/whatlanggo"
)

var caseName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// pictures are the kinds of files that a card can show.
var pictures = map[string]string{".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp"}

// check refuses a case that could not be scored.
func (c *Case) check() error {
	for _, wrong := range []struct {
		is        bool
		key, what string
	}{
		{!caseName.MatchString(c.ID) || len(c.ID) > 48, "id", "use small letters, digits and hyphens, at most 48"},
		{!caseName.MatchString(c.Family), "family", "use small letters, digits and hyphens"},
		{!knownLanguage(c.Language), "language", fmt.Sprintf("%q is no ISO 639-1 code that is recognised", c.Language)},
		{strings.TrimSpace(c.Request) == "" || len(c.Request) > 4000, "request", "write 1 to 4,000 bytes"},
		{c.Wants() && c.Card == "", "card.tsx", "the reference card is missing"},
		{!c.Wants() && c.Answer == "", "answer.md", "where no card is right, the reference is a text"},
		{c.Wants() && c.Answer != "" || !c.Wants() && (c.Card != "" || c.Twin != ""), "render", "a case has card.tsx, or render = false and answer.md"},
		{!c.Wants() && len(c.Computed)+len(c.Predicate)+len(c.Steps)+len(c.Canaries) > 0, "render", "without a card there are facts, never and ask alone"},
		{len(c.Steps) > maxSteps, "step", fmt.Sprintf("at most %d", maxSteps)},
		{len(c.Context) > maxList || len(c.Predicate) > maxList || len(c.Computed) > maxList || len(c.Canaries) > maxList || len(c.Asks) > maxList, "case", fmt.Sprintf("a list has at most %d entries", maxList)},
		{c.Wants() && len(c.Facts.Text)+len(c.Facts.Numbers)+len(c.Facts.Dates)+len(c.Facts.Times) == 0, "facts", "name at least one thing that must be shown"},
	} {
		if wrong.is {
			return bad(c.ID, wrong.key, wrong.what)
		}
	}
	return c.checkParts()
}

func (c *Case) checkParts() error {
	for _, check := range []func() error{c.checkContext, c.checkFacts, c.checkComputed, c.checkPredicates, c.checkSteps, c.checkCanaries, c.checkAsks} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func knownLanguage(code string) bool {
	for l := range whatlanggo.Langs {
		if l.Iso6391() == code {
			return code != ""
		}
	}
	return false
}

func (c *Case) checkContext() error {
	seen := map[string]bool{}
	for _, x := range c.Context {
		switch {
		case !caseName.MatchString(x.Name) || seen[x.Name]:
			return bad(c.ID, "context.name", fmt.Sprintf("%q: use small letters, digits and hyphens, each name once", x.Name))
		case (x.Text == "") == (x.File == ""):
			return bad(c.ID, "context."+x.Name, "give text or file, one of them")
		case x.File != "" && (pictures[path.Ext(x.File)] == "" || x.Alt == ""):
			return bad(c.ID, "context."+x.Name, "a file is a .svg, .png, .jpg or .webp, with alt")
		case x.File != "" && c.Assets[x.Name] == nil:
			return bad(c.ID, "context."+x.Name, x.File+" is not in the directory")
		}
		seen[x.Name] = true
	}
	return nil
}

func (c *Case) checkFacts() error {
	for key, f := range map[string]Facts{"facts": c.Facts, "never": c.Never} {
		for _, t := range f.Text {
			if normal(t) == "" {
				return bad(c.ID, key+".text", "a text is empty")
			}
		}
		for _, d := range f.Dates {
			if _, err := time.Parse(time.DateOnly, d); err != nil {
				return bad(c.ID, key+".dates", fmt.Sprintf("%q is not of the form 2026-12-04", d))
			}
		}
		for _, t := range f.Times {
			if _, err := time.Parse("15:04", t); err != nil {
				return bad(c.ID, key+".times", fmt.Sprintf("%q is not of the form 14:30", t))
			}
		}
	}
	return nil
}

func (c *Case) checkComputed() error {
	for _, x := range c.Computed {
		if x.Name == "" || x.After < 0 || x.After > len(c.Steps) || x.Decimals != nil && (*x.Decimals < 0 || *x.Decimals > 6) {
			return bad(c.ID, "computed", "each needs a name, after of 0 to the number of steps, decimals of 0 to 6")
		}
		if _, err := Formula(x.Formula, x.With); err != nil {
			return bad(c.ID, "computed."+x.Name, err.Error())
		}
	}
	return nil
}

func (c *Case) checkPredicates() error {
	for _, p := range c.Predicate {
		key := "predicate." + p.Is
		if !slices.Contains(predicateKinds, p.Is) {
			return bad(c.ID, "predicate.is", fmt.Sprintf("%q; known are %s", p.Is, strings.Join(predicateKinds, ", ")))
		}
		needs := predicateNeeds[p.Is]
		for _, missing := range []struct {
			is   bool
			what string
		}{
			{strings.Contains(needs, "of") && len(p.Of) == 0, "it needs of, a list of texts"},
			{strings.Contains(needs, "role") && p.Role == "", "it needs role"},
			{strings.Contains(needs, "n!") && p.N < 1, "it needs n, 1 or more"},
			{p.N < 0, "n is negative"},
			{strings.Contains(needs, "value") && p.Value == "", "it needs value"},
			{p.Is == "asset" && c.Assets[p.Value] == nil, "value names a file of context"},
		} {
			if missing.is {
				return bad(c.ID, key, missing.what)
			}
		}
		if err := p.Control.check(c.ID, key); err != nil {
			return err
		}
	}
	return nil
}

// predicateNeeds are the keys that a kind of predicate cannot do without.
var predicateNeeds = map[string]string{
	"at_most": "of", "at_least": "of", "exactly": "of", "order": "of", "has": "role", "lacks": "role",
	"count_at_most": "role", "count_at_least": "role n!", "single_choice": "of", "multiple_choice": "of",
	"max_words": "n!", "asset": "value", "initial": "role value", "first_view": "of",
}

func (c Control) check(id, key string) error {
	if _, err := regexp.Compile("(?i)" + c.Name); err != nil {
		return bad(id, key+".name", err.Error())
	}
	if c.Nth < 0 {
		return bad(id, key+".nth", "it is negative")
	}
	return nil
}

func (c *Case) checkSteps() error {
	for i, s := range c.Steps {
		key := fmt.Sprintf("step %d", i+1)
		switch {
		case !slices.Contains(stepKinds, s.Do):
			return bad(c.ID, key+", do", fmt.Sprintf("%q; known are %s", s.Do, strings.Join(stepKinds, ", ")))
		case s.Do != "click" && s.Value == "":
			return bad(c.ID, key+", value", "it is missing")
		case s.Do == "key" && !slices.Contains(keys, s.Value):
			return bad(c.ID, key+", value", fmt.Sprintf("%q; known are %s", s.Value, strings.Join(keys, ", ")))
		case s.Do != "key" && s.Do != "select" && s.Name == "" && s.Role == "":
			return bad(c.ID, key+", name", "which control?")
		case s.Then.Quiet && len(s.Then.Actions) > 0:
			return bad(c.ID, key+", quiet", "an Action is expected and forbidden")
		}
		if err := s.check(c.ID, key); err != nil {
			return err
		}
	}
	return nil
}

func (s *Step) check(id, key string) error {
	if err := s.Control.check(id, key); err != nil {
		return err
	}
	for _, x := range s.Then.Controls {
		if !slices.Contains(stateKinds, x.Is) {
			return bad(id, key+", then.control.is", fmt.Sprintf("%q; known are %s", x.Is, strings.Join(stateKinds, ", ")))
		}
		if err := x.Control.check(id, key+", then.control"); err != nil {
			return err
		}
	}
	for _, a := range s.Then.Actions {
		if _, err := regexp.Compile("(?i)" + a.Name); err != nil {
			return bad(id, key+", then.action.name", err.Error())
		}
	}
	return nil
}

func (c *Case) checkCanaries() error {
	for _, k := range c.Canaries {
		typed := slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Value == k.Value })
		if k.Name == "" || len(k.Value) < 6 || !typed {
			return bad(c.ID, "canary", "each has a name and a value of 6 characters or more that a step enters")
		}
	}
	return nil
}

func (c *Case) checkAsks() error {
	for _, a := range c.Asks {
		if !slices.Contains(askLayers, a.Layer) || strings.TrimSpace(a.Question) == "" {
			return bad(c.ID, "ask", "layer is content or constraint, and there is a question")
		}
	}
	return nil
}
