// Package edit has the edits of a contract that a loop can make: a closed set of kinds, each
// with what it may touch and which values it takes, and a committed catalogue of choices.
// An edit is an edit of the contract's text, which is parsed again and compared: it changes
// its component and nothing else. Pure; docs/formats/edits.md.
package edit

import (
	"fmt"
	"slices"
	"strings"

	"macaron/internal/errs"
)

// op is what an edit does to the tree of a contract.
type op int

const (
	put     op = iota // a value, whether there was one or not
	create            // an entry of a named list, or a line of a prompt, that is not there yet
	replace           // of one that is there
	remove            // one that is there
)

// form is what the value of an edit is.
type form string

const (
	nothing form = "nothing" // "" is the only value
	line    form = "line"    // a text without line breaks
	text    form = "text"
	table   form = "table" // TOML of the entry's keys, without its name
	integer form = "integer"
	number  form = "number"
	word    form = "word"
)

// Kind is a kind of edit. What is not under one of its paths, no edit touches: the evaluation,
// policies, hosts, secrets, the environment, the router and the base are under none.
type Kind struct {
	Name  string
	Paths []string // * stands for the name of an entry; #* behind a prompt for the id of a line
	Value string
	Most  int    // runes of the value, at most
	scope string // what may change with it, "": the component alone
	op    op
	form  form
}

const (
	lineChars  = 600
	textChars  = 4000
	tableChars = 4000
	wordChars  = 64
	numChars   = 24
)

var prompts = []string{"agent.prompts.system#*", "agent.prompts.repl#*", "agent.prompts.hybrid#*", "agent.prompts.gate#*", "adapters.*.prompt#*"}

// Kinds are all of them.
var Kinds = []Kind{
	kind("prompt.append", create, line, lineChars, prompts...),
	kind("prompt.replace", replace, line, lineChars, prompts...),
	kind("prompt.remove", remove, nothing, 0, prompts...),
	kind("skill.add", create, table, tableChars, "skills.*"),
	kind("skill.text", replace, text, textChars, "skills.*.text"),
	kind("skill.remove", remove, nothing, 0, "skills.*"),
	kind("tool.add", create, table, tableChars, "tools.*"),
	kind("tool.describe", put, line, lineChars, "tools.*.description"),
	kind("tool.limit", put, integer, numChars, "tools.*.max_calls", "tools.*.retries", "tools.*.timeout_ms"),
	kind("tool.remove", remove, nothing, 0, "tools.*"),
	kind("hook.add", create, table, tableChars, "hooks.*"),
	kind("hook.rounds", put, integer, numChars, "hooks.*.max_rounds"),
	kind("hook.remove", remove, nothing, 0, "hooks.*"),
	within("memory", kind("memory.set", put, integer, numChars, "memory.max_items", "memory.max_item_chars")),
	within("memory", kind("memory.remove", remove, nothing, 0, "memory")),
	kind("budget.set", put, integer, numChars, "agent.max_turns", "agent.max_tokens", "agent.max_wall_ms", "agent.step_tokens", "agent.max_tool_calls", "agent.result_chars"),
	kind("sampling.set", put, number, numChars, "sampling.temperature", "sampling.top_p", "sampling.min_p", "sampling.repetition_penalty"),
	kind("sampling.limit", put, integer, numChars, "sampling.top_k"),
	kind("mode.set", put, word, wordChars, "agent.mode"),
	kind("sandbox.set", put, integer, numChars, "sandbox.memory_mb", "sandbox.pids", "sandbox.cpu_seconds", "sandbox.disk_mb", "sandbox.wall_ms", "sandbox.output_bytes"),
}

func kind(name string, o op, f form, most int, paths ...string) Kind {
	return Kind{Name: name, Paths: paths, Value: string(f), Most: most, op: o, form: f}
}

func within(scope string, k Kind) Kind {
	k.scope = scope
	return k
}

// Tuning reports whether edits of the kind change a number and nothing else.
func (k Kind) Tuning() bool { return k.form == integer || k.form == number }

// kindOf finds a kind by its name.
func kindOf(name string) (Kind, error) {
	if i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name }); i >= 0 {
		return Kinds[i], nil
	}
	var known []string
	for _, k := range Kinds {
		known = append(known, k.Name)
	}
	return Kind{}, bad("there is no kind of edit "+errs.Clip(name), "there are: "+strings.Join(known, ", "))
}

// covers reports whether a component is under one of the kind's paths.
func (k Kind) covers(component string) bool {
	return slices.ContainsFunc(k.Paths, func(p string) bool { return match(p, component) })
}

// match reports whether a component is of the form of a path. Only adapters, which no edit
// makes, may have names with dots.
func match(pattern, component string) bool {
	path, lines := strings.CutSuffix(pattern, "#*")
	at, id, numbered := strings.Cut(component, "#")
	if lines != numbered || lines && !identifier.MatchString(id) {
		return false
	}
	before, after, wild := strings.Cut(path, "*")
	if !wild {
		return at == path
	}
	name, ok := strings.CutPrefix(at, before)
	if ok {
		name, ok = strings.CutSuffix(name, after)
	}
	return ok && label.MatchString(name) && (before == "adapters." || !strings.Contains(name, "."))
}

func bad(message, next string) error { return errs.New(errs.InvalidRequest, message, next) }

func badf(next, format string, args ...any) error { return bad(fmt.Sprintf(format, args...), next) }
