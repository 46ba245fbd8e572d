package contract

import (
	"macaron/internal/tool"
	"macaron/internal/ui4a/library"
)

// The bounds of a run where a contract with an agent says nothing. They are filled in
// before the contract is named, so that they cannot change below it.
const (
	defaultTurns       = 16
	defaultTokens      = 262_144
	defaultWallMS      = 600_000
	defaultToolCalls   = 128
	defaultResultChars = 4_000
	defaultItemChars   = 500
	defaultGateRounds  = 3
	defaultBytes       = 64 << 20
	defaultFiles       = 1_000
	defaultMemoryMB    = 512
	defaultPIDs        = 64
	defaultCPUSeconds  = 60
	defaultDiskMB      = 64
	defaultCellMS      = 30_000
	defaultOutputBytes = 16_384
	// DefaultBackend is the sandbox of sandbox.backend.
	DefaultBackend = "bubblewrap"
)

// sections2 are the sections that came with schema 2.
var sections2 = []string{"parents", "runtime", "agent", "memory", "resources", "tools", "mcp", "policies", "skills", "hooks", "workspace", "environment", "tokens", "sandbox"}

// cards is the placeholder for the text that teaches the language of cards. It is filled in
// before the contract is named: another text is another contract.
const cards = "{{ui4a}}"

// fill completes a contract.
func (c *Contract) fill() {
	for i := range c.Adapters {
		a := &c.Adapters[i]
		a.Prompt = expand(a.Prompt, cards, library.Prompt())
	}
	c.fillAgent()
}

// fillAgent completes a contract that has an agent.
func (c *Contract) fillAgent() {
	if c.Agent.Mode == "" && c.Agent.Prompts == (AgentPrompts{}) {
		return
	}
	a := &c.Agent
	preset(&a.Mode, Functions)
	preset(&a.Adapter, c.Router.Default)
	preset(&a.MaxTurns, defaultTurns)
	preset(&a.MaxTokens, defaultTokens)
	preset(&a.StepTokens, c.Budgets.AnswerTokens)
	preset(&a.MaxWallMS, defaultWallMS)
	preset(&a.MaxToolCalls, defaultToolCalls)
	preset(&a.ResultChars, defaultResultChars)
	if c.Memory.MaxItems > 0 {
		preset(&c.Memory.MaxItemChars, defaultItemChars)
		preset(&c.Memory.Scope, MemoryOwner)
	}
	if c.Policies.Effects == nil {
		c.Policies.Effects = []tool.Effect{tool.Pure, tool.Read, tool.Write}
	}
	for i := range c.Hooks {
		if c.Hooks[i].On == OnStop {
			preset(&c.Hooks[i].MaxRounds, defaultGateRounds)
		}
	}
	preset(&c.Workspace.Snapshots, SnapshotEnd)
	preset(&c.Workspace.MaxBytes, defaultBytes)
	preset(&c.Workspace.MaxFiles, defaultFiles)
	c.Sandbox.fill()
}

func (s *Sandbox) fill() {
	preset(&s.Backend, DefaultBackend)
	preset(&s.MemoryMB, defaultMemoryMB)
	preset(&s.PIDs, defaultPIDs)
	preset(&s.CPUSeconds, defaultCPUSeconds)
	preset(&s.DiskMB, defaultDiskMB)
	preset(&s.WallMS, defaultCellMS)
	preset(&s.OutputBytes, defaultOutputBytes)
}

func preset[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}
