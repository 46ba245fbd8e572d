package scripted

import (
	"slices"
	"strconv"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
)

// Feature is something that a contract has or lacks, by the edit that would give it.
type Feature struct{ edit mindforge.Edit }

// FeatureOf is what a contract has after an edit. Edits that set a number give their feature
// to that very number: a larger one may be another planted truth.
func FeatureOf(e mindforge.Edit) Feature { return Feature{e} }

// In reports whether a contract has the feature.
func (f Feature) In(c *contract.Contract) bool {
	path, id, line := strings.Cut(f.edit.Component, "#")
	section, name, _ := strings.Cut(path, ".")
	switch {
	case line:
		return hasLine(c, path, id, f.edit.Value)
	case section == "tools" && f.edit.Kind == "tool.add":
		_, there := c.Tool(name)
		return there
	case section == "skills" && f.edit.Kind == "skill.add":
		_, there := c.Skill(name)
		return there
	case section == "hooks" && f.edit.Kind == "hook.add":
		return slices.ContainsFunc(c.Hooks, func(h contract.Hook) bool { return h.Name == name })
	}
	v, ok := numberAt(c, path)
	want, err := strconv.ParseFloat(f.edit.Value, 64)
	return ok && err == nil && v == want
}

func hasLine(c *contract.Contract, path, id, value string) bool {
	prompt := c.Agent.Prompts.System
	if path != "agent.prompts.system" {
		label := strings.TrimSuffix(strings.TrimPrefix(path, "adapters."), ".prompt")
		a, _ := c.Adapter(label)
		prompt = a.Prompt
	}
	names, texts := edit.Entries(prompt)
	i := slices.Index(names, id)
	return i >= 0 && texts[i] == value
}

// numberAt reads the numbers that edits set.
func numberAt(c *contract.Contract, path string) (float64, bool) {
	whole := map[string]int{"agent.max_turns": c.Agent.MaxTurns, "agent.max_tokens": c.Agent.MaxTokens, "agent.step_tokens": c.Agent.StepTokens,
		"agent.max_tool_calls": c.Agent.MaxToolCalls, "agent.result_chars": c.Agent.ResultChars, "memory.max_items": c.Memory.MaxItems}
	if n, ok := whole[path]; ok {
		return float64(n), true
	}
	part := map[string]*float64{"sampling.temperature": c.Sampling.Temperature, "sampling.top_p": c.Sampling.TopP, "sampling.min_p": c.Sampling.MinP}
	if f := part[path]; f != nil {
		return *f, true
	}
	return 0, false
}
