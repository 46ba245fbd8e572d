package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// kind is how a value is compared.
type kind int

const (
	free    kind = iota // any value will do
	fixed               // another value is another thing
	textual             // a text that the model reads
	upper               // an upper bound
	allows              // a list of what may be
	beside              // a list of what may be beside what another list has
	asks                // a list, or a switch, of what is asked for or withheld
	schema              // a JSON Schema of what is accepted
)

// kinds are the paths that are not free, * standing for a name.
var kinds = map[string]kind{
	"schema": fixed, "model.base": fixed,
	"runtime.engines": allows, "runtime.needs": asks, "runtime.context": fixed, "runtime.base": fixed, "runtime.template": fixed, "runtime.tokenizer": fixed,
	"prompts.*": textual, "agent.prompts.*": textual, "adapters.*.prompt": textual, "adapters.*.description": textual, "split.prompt": textual,
	"tools.*.description": textual, "skills.*.text": textual, "skills.*.description": textual,
	"adapters.*.owners": allows, "adapters.*.users": beside,
	"budgets.route_tokens": upper, "budgets.summary_tokens": upper, "budgets.answer_tokens": upper,
	"agent.mode": fixed, "agent.max_turns": upper, "agent.max_tokens": upper, "agent.step_tokens": upper, "agent.max_wall_ms": upper,
	"agent.max_tool_calls": upper, "agent.max_cost_usd": upper, "agent.result_chars": upper,
	"memory.max_items": upper, "memory.max_item_chars": upper, "memory.scope": fixed,
	"tools.*.use": fixed, "tools.*.effect": fixed, "tools.*.parameters": schema, "tools.*.result": fixed, "tools.*.noai": asks, "tools.*.approval": asks,
	"tools.*.timeout_ms": upper, "tools.*.max_calls": upper, "tools.*.http.method": fixed, "tools.*.http.url": fixed, "tools.*.http.hosts": allows,
	"policies.effects": allows, "policies.approve": asks, "policies.hosts": allows,
	"hooks.*.on": fixed, "hooks.*.check": fixed, "hooks.*.python": fixed, "hooks.*.with": fixed, "hooks.*.tools": fixed,
	"workspace.visible": allows, "workspace.max_bytes": upper, "workspace.max_files": upper,
	"environment.names": allows, "environment.secrets": asks,
	"tokens.*":        fixed,
	"sandbox.backend": fixed, "sandbox.memory_mb": upper, "sandbox.pids": upper, "sandbox.cpu_seconds": upper, "sandbox.disk_mb": upper,
	"sandbox.wall_ms": upper, "sandbox.output_bytes": upper,
}

// classes are the paths that do not move scores.
var classes = map[string]Class{
	"schema": Cosmetic, "name": Cosmetic, "version": Cosmetic, "parents": Cosmetic, "adapters.*.title": Cosmetic, "adapters.*.source": Score,
	"budgets.summary_wait_ms": Cost, "agent.max_cost_usd": Cost, "tools.*.retries": Cost, "resources.concurrency": Cost, "workspace.snapshots": Cost,
}

func kindOf(path string) kind { return kinds[generic(path)] }

func classOf(path string) Class {
	if c := classes[generic(path)]; c != "" {
		return c
	}
	return Score
}

// generic is the path with * for the name that an author chose, or for a prompt's.
func generic(path string) string {
	parts := strings.Split(path, ".")
	switch {
	case lists[parts[0]] && len(parts) > 1:
		if _, key, _ := entryPath(path); key != "" {
			return parts[0] + ".*." + key
		}
		return parts[0] + ".*"
	case strings.HasPrefix(path, "agent.prompts."):
		return "agent.prompts.*"
	case parts[0] == "prompts" || parts[0] == "tokens":
		return parts[0] + ".*"
	}
	return path
}

// schemaChange tells what a schema accepts no more, parameter by parameter.
func schemaChange(path string, was, now json.RawMessage) (string, bool) {
	var a, b parameters
	if json.Unmarshal(was, &a) != nil || json.Unmarshal(now, &b) != nil {
		return fmt.Sprintf("%s: %s -> %s", path, shown(was), shown(now)), false
	}
	var told []string
	fine := true
	say := func(ok bool, format string, args ...any) {
		told, fine = append(told, fmt.Sprintf(format, args...)), fine && ok
	}
	for _, name := range slices.Sorted(maps.Keys(a.Properties)) {
		if other, there := b.Properties[name]; !there {
			say(false, "%s is gone", name)
		} else if string(other) != string(a.Properties[name]) {
			say(sameBut(a.Properties[name], other), "%s is %s, was %s", name, shown(other), shown(a.Properties[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Properties)) {
		if _, there := a.Properties[name]; !there {
			say(true, "%s is new", name)
		}
	}
	for _, name := range without(b.Required, a.Required) {
		say(false, "%s must be given", name)
	}
	for _, name := range without(a.Required, b.Required) {
		say(true, "%s may be left out", name)
	}
	if !sameBut(a.rest(was), b.rest(now)) {
		say(false, "other rules changed")
	}
	return path + ": " + strings.Join(told, "; "), fine
}

// parameters is what most schemas of tools are made of.
type parameters struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

// rest is a schema without what parameters has.
func (parameters) rest(schema json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(schema, &m) != nil {
		return schema
	}
	delete(m, "properties")
	delete(m, "required")
	b, err := json.Marshal(m)
	if err != nil {
		return schema
	}
	return b
}

// sameBut reports whether two schemas differ in texts for people at most.
func sameBut(a, b json.RawMessage) bool {
	var x, y map[string]any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return string(a) == string(b)
	}
	for _, text := range []string{"description", "title", "examples", "$comment"} {
		delete(x, text)
		delete(y, text)
	}
	p, errP := json.Marshal(x)
	q, errQ := json.Marshal(y)
	return errP == nil && errQ == nil && string(p) == string(q)
}
