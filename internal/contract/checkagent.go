package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"macaron/internal/errs"
)

// version2 is https://semver.org, item 2 with its own expression, in Go's syntax.
var version2 = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`)

func (c *Contract) checkVersion() error {
	if !version2.MatchString(c.Version) {
		return bad("version", fmt.Sprintf("version is %q; use a semantic version such as 1.4.0", errs.Clip(c.Version)))
	}
	return nil
}

func (c *Contract) checkAgent() error {
	if c.Agent == (Agent{}) {
		return c.checkIdle()
	}
	if _, ok := c.Adapter(c.Agent.Adapter); !ok {
		return bad("agent.adapter", fmt.Sprintf("agent.adapter is %q, which is no registered adapter", errs.Clip(c.Agent.Adapter)))
	}
	return c.checkAgentPrompts()
}

// checkIdle refuses sections that nothing would use.
func (c *Contract) checkIdle() error {
	for _, s := range []struct {
		key   string
		there bool
	}{{"tools", c.Tools != nil}, {"hooks", c.Hooks != nil}, {"skills", c.Skills != nil}, {"memory", c.Memory != Memory{}}} {
		if s.there {
			return bad(s.key, s.key+" needs [agent] with agent.prompts.system")
		}
	}
	return nil
}

// checkAgentPrompts wants the prompts that something uses, with their placeholders.
func (c *Contract) checkAgentPrompts() error {
	a, p := c.Agent, c.Agent.Prompts
	for _, p := range []struct {
		hole
		needed bool
		by     string
	}{
		{hole{"agent.prompts.repl", p.REPL, "{{stubs}}"}, a.Mode != Functions, "agent.mode"},
		{hole{"agent.prompts.hybrid", p.Hybrid, ""}, a.Mode == Hybrid, "agent.mode"},
		{hole{"agent.prompts.gate", p.Gate, "{{reason}}"}, len(c.HooksOn(OnStop)) > 0, "a stop hook"},
		{hole{"agent.prompts.memory", p.Memory, "{{items}}"}, c.Memory.MaxItems > 0, "memory"},
		{hole{"agent.prompts.skills", p.Skills, "{{skills}}"}, len(c.Skills) > 0, "skills"},
	} {
		switch empty := strings.TrimSpace(p.text) == ""; {
		case empty && p.needed:
			return bad(p.key, p.key+" is missing; "+p.by+" needs it")
		case !empty:
			if err := holes(p.hole); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Contract) checkTokens() error {
	t := c.Tokens
	if (t.Call == "") != (t.CallEnd == "") || (t.Result == "") != (t.ResultEnd == "") {
		return bad("tokens", "tokens come in pairs: call and call_end, result and result_end")
	}
	return nil
}

func names[T any](all []T, name func(T) string) []string {
	out := make([]string, len(all))
	for i, x := range all {
		out[i] = name(x)
	}
	return out
}

// toolNames lists the names of the tools.
func (c *Contract) toolNames() []string { return names(c.Tools, func(t Tool) string { return t.Name }) }

// python are the words that Python keeps for itself; a stub cannot have them.
var python = strings.Fields("False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield")

func reserved(name string) bool { return slices.Contains(python, name) }
