package edit

import (
	"regexp"
	"slices"

	"macaron/internal/contract"
)

// Touch is what a change of a contract can move, and whether a person says yes to it first.
type Touch struct {
	Score      bool     `json:"score"`
	Cost       bool     `json:"cost"`
	Permission bool     `json:"permission"` // what may be called, reached, changed or left unchecked
	Why        []string `json:"why,omitempty"`
}

// Approval reports whether a person has to say yes.
func (t Touch) Approval() bool { return t.Permission }

// harmless are the paths whose change gives nobody a permission and takes no check away.
// Everything else is a person's to allow: what a later contract has that this list does not
// know is not waved through.
var harmless = regexp.MustCompile(`^(agent\.prompts\.[a-z]+|adapters\..+\.(prompt|description|title)|` +
	`skills\..+|tools\..+\.(description|retries|timeout_ms)|hooks\..+\.max_rounds|memory\.max_(items|item_chars)|memory\.scope|` +
	`agent\.(max_turns|max_tokens|max_wall_ms|step_tokens|max_tool_calls|result_chars)|sampling\..+|name|version|parents)$`)

var (
	newHook = regexp.MustCompile(`^hooks\.[^.]+$`)
	spends  = regexp.MustCompile(`^(agent\.(max_turns|max_tokens|max_wall_ms|step_tokens|max_tool_calls|result_chars)|tools\..+\.retries|hooks\..+\.max_rounds|budgets\..+)$`)
)

// Touches says what lies between two contracts.
func Touches(was, now *contract.Contract) (Touch, error) {
	changes, err := contract.Diff(was, now)
	if err != nil {
		return Touch{}, err
	}
	var t Touch
	for _, c := range changes {
		t.Score = t.Score || c.Class == contract.Score
		t.Cost = t.Cost || c.Class == contract.Cost || spends.MatchString(c.Path)
		if !allowed(c, was, now) {
			t.Permission, t.Why = true, append(t.Why, c.What)
		}
	}
	return t, nil
}

// allowed: nobody needs to be asked. A new check of an answer's form is no permission; one
// that runs code, stands before a tool, or is gone, is.
func allowed(c contract.Change, was, now *contract.Contract) bool {
	if c.Path == "memory.scope" && c.Was != nil && c.Now != nil {
		return false
	}
	if newHook.MatchString(c.Path) && c.Was == nil {
		i := slices.IndexFunc(now.Hooks, func(h contract.Hook) bool { return "hooks."+h.Name == c.Path })
		return i >= 0 && now.Hooks[i].Python == "" && now.Hooks[i].On == contract.OnStop
	}
	return harmless.MatchString(c.Path)
}
