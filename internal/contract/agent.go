package contract

// Runtime says what must stand below the contract. Empty fields ask for nothing.
type Runtime struct {
	Engines   []string `toml:"engines" json:"engines,omitempty" rule:"count=1..256"`                                                                                          // names of engines that it may run on
	Needs     []string `toml:"needs" json:"needs,omitempty" rule:"count=1..9 one=adapters|choices|logprobs|token_ids|tools|forced_tools|json_schema|reasoning|cached_tokens"` // capabilities of backend.Capabilities
	Context   int      `toml:"context" json:"context,omitempty" rule:"range=0..2147483647"`                                                                                   // tokens at least
	Base      string   `toml:"base" json:"base,omitempty" rule:"form=digest"`                                                                                                 // digest of the base's weights
	Template  string   `toml:"template" json:"template,omitempty" rule:"form=digest"`                                                                                         // digest of the chat template
	Tokenizer string   `toml:"tokenizer" json:"tokenizer,omitempty" rule:"form=digest"`                                                                                       // digest of the tokenizer
}

// Mode is how an agent acts.
type Mode string

// The modes. Hybrid has both and makes the model look at what a tool that must be
// observed gave before it goes on.
const (
	Functions Mode = "functions" // the model calls tools one by one
	REPL      Mode = "repl"      // the model writes Python, in which tools are functions
	Hybrid    Mode = "hybrid"
)

// Agent is how a run goes on and when it ends. Its bounds are for a whole run.
type Agent struct {
	Mode         Mode         `toml:"mode" json:"mode,omitempty" rule:"one=functions|repl|hybrid"`
	Adapter      string       `toml:"adapter" json:"adapter,omitempty" rule:"form=label"`                     // label that acts; router.default by default
	MaxTurns     int          `toml:"max_turns" json:"max_turns,omitempty" rule:"range=1..100000"`            // model calls
	MaxTokens    int          `toml:"max_tokens" json:"max_tokens,omitempty" rule:"range=1..2147483647"`      // of all model calls, prompts too
	StepTokens   int          `toml:"step_tokens" json:"step_tokens,omitempty" rule:"range=1..1048576"`       // output tokens of one model call
	MaxWallMS    int          `toml:"max_wall_ms" json:"max_wall_ms,omitempty" rule:"range=1..604800000"`     // time, waits for people left out
	MaxToolCalls int          `toml:"max_tool_calls" json:"max_tool_calls,omitempty" rule:"range=1..1000000"` // those made from code too
	MaxCostUSD   float64      `toml:"max_cost_usd" json:"max_cost_usd,omitempty" rule:"range=0..1000000"`     // 0: no bound
	ResultChars  int          `toml:"result_chars" json:"result_chars,omitempty" rule:"range=64..1048576"`    // runes of a result that the model sees
	Prompts      AgentPrompts `toml:"prompts" json:"prompts,omitzero" rule:"need"`
}

// AgentPrompts are the texts of a run. All but System are needed only where they are used.
type AgentPrompts struct {
	System string `toml:"system" json:"system,omitempty" rule:"need"` // head; may have {{specialist}}
	REPL   string `toml:"repl" json:"repl,omitempty"`                 // how Python is used; {{stubs}}
	Hybrid string `toml:"hybrid" json:"hybrid,omitempty"`             // when to compose in code and when to look
	Gate   string `toml:"gate" json:"gate,omitempty"`                 // a stop gate says no; {{reason}}
	Memory string `toml:"memory" json:"memory,omitempty"`             // {{items}}
	Skills string `toml:"skills" json:"skills,omitempty"`             // {{skills}}: a line for each, loaded on demand
}

// Memory bounds what is kept between the steps and runs of one tenant.
type Memory struct {
	MaxItems     int    `toml:"max_items" json:"max_items,omitempty" rule:"need range=1..10000"` // 0: no memory
	MaxItemChars int    `toml:"max_item_chars" json:"max_item_chars,omitempty" rule:"range=1..1048576"`
	Scope        string `toml:"scope" json:"scope,omitempty" rule:"one=owner|run"` // MemoryOwner or MemoryRun
}

// The scopes of memory.
const (
	MemoryOwner = "owner" // all runs of a tenant under a contract of this name
	MemoryRun   = "run"   // this run alone
)

// Resources are what results were measured with: they move scores.
type Resources struct {
	CPUs        float64 `toml:"cpus" json:"cpus,omitempty" rule:"range=0..4096"`
	MemoryMB    int     `toml:"memory_mb" json:"memory_mb,omitempty" rule:"range=0..1048576"`
	WallMS      int     `toml:"wall_ms" json:"wall_ms,omitempty" rule:"range=0..604800000"`
	Concurrency int     `toml:"concurrency" json:"concurrency,omitempty" rule:"range=0..100000"` // runs at the same time
}

// Tokens are the texts that frame tool calls and results for a model that was trained on
// them. Empty ones are the template's own.
type Tokens struct {
	Call      string `toml:"call" json:"call,omitempty"`
	CallEnd   string `toml:"call_end" json:"call_end,omitempty"`
	Result    string `toml:"result" json:"result,omitempty"`
	ResultEnd string `toml:"result_end" json:"result_end,omitempty"`
}
