package contract

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// The bounds of what a run may ask for.
const (
	MaxParents = 16
	MaxTurns   = 100_000
	MaxCalls   = 1_000_000
	MaxMS      = 7 * 24 * 3_600_000 // any time but budgets.summary_wait_ms
	MaxItems   = 10_000             // memory.max_items
	MaxRounds  = 100                // hooks.max_rounds
	MaxNames   = 256                // tools, servers, skills, hooks, or names in a list
	MaxMB      = 1 << 20            // any size in MiB
)

// version2 is https://semver.org, item 2 with its own expression, in Go's syntax.
var version2 = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`)

func (c *Contract) checkOrigin() error {
	if !version2.MatchString(c.Version) {
		return bad("version", fmt.Sprintf("version is %q; use a semantic version such as 1.4.0", errs.Clip(c.Version)))
	}
	if err := listed("parents", c.Parents, MaxParents); err != nil {
		return err
	}
	for i, p := range c.Parents {
		if err := digest(fmt.Sprintf("parents[%d]", i), string(p)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Contract) checkRuntime() error {
	r := c.Runtime
	for _, d := range []struct{ key, value string }{{"runtime.base", r.Base}, {"runtime.template", r.Template}, {"runtime.tokenizer", r.Tokenizer}} {
		if d.value != "" {
			if err := digest(d.key, d.value); err != nil {
				return err
			}
		}
	}
	for _, l := range []struct {
		key   string
		names []string
	}{{"runtime.engines", r.Engines}, {"runtime.needs", r.Needs}} {
		if err := listed(l.key, l.names, MaxNames); err != nil {
			return err
		}
	}
	for i, n := range r.Needs {
		if err := oneOf(fmt.Sprintf("runtime.needs[%d]", i), n, Needs...); err != nil {
			return err
		}
	}
	return bounds(count{"runtime.context", r.Context, 0, math.MaxInt32})
}

func (c *Contract) checkAgent() error {
	a := c.Agent
	if a == (Agent{}) {
		return c.checkIdle()
	}
	if err := oneOf("agent.mode", a.Mode, Functions, REPL, Hybrid); err != nil {
		return err
	}
	if _, ok := c.Adapter(a.Adapter); !ok {
		return bad("agent.adapter", fmt.Sprintf("agent.adapter is %q, which is no registered adapter", errs.Clip(a.Adapter)))
	}
	if !(a.MaxCostUSD >= 0 && a.MaxCostUSD <= 1e6) {
		return bad("agent.max_cost_usd", "agent.max_cost_usd must be from 0 to 1000000")
	}
	if err := bounds(count{"agent.max_turns", a.MaxTurns, 1, MaxTurns}, count{"agent.max_tokens", a.MaxTokens, 1, math.MaxInt32}, count{"agent.step_tokens", a.StepTokens, 1, MaxTokens},
		count{"agent.max_wall_ms", a.MaxWallMS, 1, MaxMS}, count{"agent.max_tool_calls", a.MaxToolCalls, 1, MaxCalls}, count{"agent.result_chars", a.ResultChars, 64, MaxChars}); err != nil {
		return err
	}
	return c.checkAgentPrompts()
}

// checkIdle refuses sections that nothing would use.
func (c *Contract) checkIdle() error {
	for key, there := range map[string]bool{"hooks": len(c.Hooks) > 0, "tools": len(c.Tools) > 0, "skills": len(c.Skills) > 0, "memory": c.Memory != Memory{}} {
		if there {
			return bad(key, key+" needs [agent] with agent.prompts.system")
		}
	}
	return nil
}

func (c *Contract) checkAgentPrompts() error {
	a, p := c.Agent, c.Agent.Prompts
	code := a.Mode != Functions
	for _, p := range []struct {
		key, text, holes string
		needed           bool
		by               string
	}{
		{"agent.prompts.system", p.System, "", true, "an agent"},
		{"agent.prompts.repl", p.REPL, "{{stubs}}", code, "agent.mode"},
		{"agent.prompts.hybrid", p.Hybrid, "", a.Mode == Hybrid, "agent.mode"},
		{"agent.prompts.gate", p.Gate, "{{reason}}", len(c.HooksOn(OnStop)) > 0, "a stop hook"},
		{"agent.prompts.memory", p.Memory, "{{items}}", c.Memory.MaxItems > 0, "memory"},
		{"agent.prompts.skills", p.Skills, "{{skills}}", len(c.Skills) > 0, "skills"},
	} {
		empty := strings.TrimSpace(p.text) == ""
		if p.needed && empty {
			return bad(p.key, p.key+" is missing; "+p.by+" needs it")
		}
		if !empty && !strings.Contains(p.text, p.holes) {
			return bad(p.key, p.key+" must contain "+p.holes)
		}
	}
	return nil
}

func (c *Contract) checkMemory() error {
	m := c.Memory
	if m.MaxItems == 0 {
		if m != (Memory{}) {
			return bad("memory.max_items", "memory.max_items is missing; without it there is no memory")
		}
		return nil
	}
	if err := oneOf("memory.scope", m.Scope, MemoryOwner, MemoryRun); err != nil {
		return err
	}
	return bounds(count{"memory.max_items", m.MaxItems, 1, MaxItems}, count{"memory.max_item_chars", m.MaxItemChars, 1, MaxChars})
}

func (c *Contract) checkResources() error {
	r := c.Resources
	if !(r.CPUs >= 0 && r.CPUs <= 4096) {
		return bad("resources.cpus", "resources.cpus must be from 0 to 4096")
	}
	return bounds(count{"resources.memory_mb", r.MemoryMB, 0, MaxMB}, count{"resources.wall_ms", r.WallMS, 0, MaxMS}, count{"resources.concurrency", r.Concurrency, 0, MaxTurns})
}

func digest(key, value string) error {
	if _, err := ids.ParseDigest(value); err != nil {
		return bad(key, fmt.Sprintf("%s is %q; a digest is sha256: and 64 hexadecimal digits", key, errs.Clip(value)))
	}
	return nil
}

func oneOf[T ~string](key string, value T, set ...T) error {
	if slices.Contains(set, value) {
		return nil
	}
	var words []string
	for _, s := range set {
		words = append(words, string(s))
	}
	return bad(key, fmt.Sprintf("%s is %q; it is one of %s", key, errs.Clip(string(value)), strings.Join(words, ", ")))
}

// listed wants names, each once. An empty list that is written down would read as "none",
// where leaving it out often means "all".
func listed[T ~string](key string, names []T, most int) error {
	if names != nil && len(names) == 0 || len(names) > most {
		return bad(key, fmt.Sprintf("%s has %d entries; give 1 to %d, or leave it out", key, len(names), most))
	}
	for i, n := range names {
		if strings.TrimSpace(string(n)) == "" || slices.Contains(names[:i], n) {
			return bad(fmt.Sprintf("%s[%d]", key, i), fmt.Sprintf("%s has %q, which is empty or stands there twice", key, errs.Clip(string(n))))
		}
	}
	return nil
}
