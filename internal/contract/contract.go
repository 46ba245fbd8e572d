// Package contract reads the harness contract (HCP, schemas "macaron.hcp/1" and "/2"):
// the adapters with their descriptions, the prompts, the router, the budgets and the
// sampling that decide behaviour, and how an agent acts: its tools, hooks, memory,
// workspace and sandbox. It is the only place where prompts are expanded.
// Parse and everything after it is pure; the format is docs/formats/hcp.md.
package contract

import (
	"slices"

	"macaron/internal/canonical"
	"macaron/internal/chat"
	"macaron/internal/ids"
)

// The schemas that this build reads. A contract of the first has none of the sections
// that came with the second, and keeps its canonical bytes.
const (
	Schema1 = "macaron.hcp/1"
	Schema  = "macaron.hcp/2"
)

// Contract is one version of the harness. It is immutable once parsed.
type Contract struct {
	Schema   string    `toml:"schema" json:"schema"`
	Name     string    `toml:"name" json:"name"`
	Version  string    `toml:"version" json:"version"`
	Model    Model     `toml:"model" json:"model"`
	Prompts  Prompts   `toml:"prompts" json:"prompts"`
	Router   Router    `toml:"router" json:"router"`
	Budgets  Budgets   `toml:"budgets" json:"budgets"`
	Sampling Sampling  `toml:"sampling" json:"sampling"`
	Split    *Split    `toml:"split" json:"split,omitempty"`
	View     *View     `toml:"view" json:"view,omitempty"`
	Adapters []Adapter `toml:"adapters" json:"adapters"`

	// Of schema 2. What is absent is left out of the canonical bytes.
	Parents     []ids.Digest `toml:"parents" json:"parents,omitempty"` // contracts that this one was made from
	Runtime     Runtime      `toml:"runtime" json:"runtime,omitzero"`
	Agent       Agent        `toml:"agent" json:"agent,omitzero"`
	Memory      Memory       `toml:"memory" json:"memory,omitzero"`
	Resources   Resources    `toml:"resources" json:"resources,omitzero"`
	Tools       []Tool       `toml:"tools" json:"tools,omitempty"`
	MCP         []Server     `toml:"mcp" json:"mcp,omitempty"`
	Policies    Policies     `toml:"policies" json:"policies,omitzero"`
	Skills      []Skill      `toml:"skills" json:"skills,omitempty"`
	Hooks       []Hook       `toml:"hooks" json:"hooks,omitempty"`
	Workspace   Workspace    `toml:"workspace" json:"workspace,omitzero"`
	Environment Environment  `toml:"environment" json:"environment,omitzero"`
	Tokens      Tokens       `toml:"tokens" json:"tokens,omitzero"`
	Sandbox     Sandbox      `toml:"sandbox" json:"sandbox,omitzero"`

	bytes []byte
	hash  ids.Digest
}

// Model names the base that the adapters were made for.
type Model struct {
	Base string `toml:"base" json:"base"`
}

// Prompts are the texts of the loop, with their placeholders in double braces.
type Prompts struct {
	System  string `toml:"system" json:"system"`   // {{specialist}}
	Route   string `toml:"route" json:"route"`     // {{adapters}}, {{order}}
	Summary string `toml:"summary" json:"summary"` // none
	Foreign string `toml:"foreign" json:"foreign"` // {{summary}}
	Tools   string `toml:"tools" json:"tools"`     // {{tools}}
}

// Router says who routes, what happens when it fails, and how much it sees.
type Router struct {
	Adapter        string   `toml:"adapter" json:"adapter"`                       // runs the route hop
	Default        string   `toml:"default" json:"default"`                       // taken when routing fails
	Order          []string `toml:"order" json:"order"`                           // labels by priority
	MinProbability float64  `toml:"min_probability" json:"min_probability"`       // below it, Default is taken
	RequestChars   int      `toml:"request_chars" json:"request_chars"`           // runes of the request
	ContextChars   int      `toml:"context_chars" json:"context_chars"`           // runes of the previous request
	StickyMargin   float64  `toml:"sticky_margin" json:"sticky_margin,omitempty"` // the last adapter stays unless another is likelier by more
	Summaries      int      `toml:"summaries" json:"summaries,omitempty"`         // recent turns whose summaries the router sees
	Shortlist      int      `toml:"shortlist" json:"shortlist,omitempty"`         // adapters that reach the prompt; 0: all
}

// Budgets bound the hops, in tokens, and the wait for a summary, in milliseconds.
type Budgets struct {
	RouteTokens   int `toml:"route_tokens" json:"route_tokens"`
	SummaryTokens int `toml:"summary_tokens" json:"summary_tokens"`
	AnswerTokens  int `toml:"answer_tokens" json:"answer_tokens"`
	SummaryWaitMS int `toml:"summary_wait_ms" json:"summary_wait_ms"`
}

// Sampling is what the answer hop uses where the client says nothing.
type Sampling struct {
	Temperature       *float64 `toml:"temperature" json:"temperature,omitempty"`
	TopP              *float64 `toml:"top_p" json:"top_p,omitempty"`
	TopK              *int     `toml:"top_k" json:"top_k,omitempty"`
	MinP              *float64 `toml:"min_p" json:"min_p,omitempty"`
	RepetitionPenalty *float64 `toml:"repetition_penalty" json:"repetition_penalty,omitempty"`
}

// Chat gives the sampling in the neutral form, for chat.Sampling.Over.
func (s Sampling) Chat() chat.Sampling {
	return chat.Sampling{Temperature: s.Temperature, TopP: s.TopP, TopK: s.TopK, MinP: s.MinP, RepetitionPenalty: s.RepetitionPenalty}
}

// Adapter registers one specialist.
type Adapter struct {
	Name        string `toml:"name" json:"name"`               // the label
	Title       string `toml:"title" json:"title"`             // for people
	Source      string `toml:"source" json:"source"`           // directory, sha256:HASH or model:NAME
	Description string `toml:"description" json:"description"` // one line, for the router
	Prompt      string `toml:"prompt" json:"prompt"`           // takes the place of {{specialist}}

	Owners []string `toml:"owners" json:"owners,omitempty"` // tenants that it is for; none: everybody
}

// Canonical returns the canonical bytes, which Hash names. Do not change them.
func (c *Contract) Canonical() []byte { return c.bytes }

// Hash names the contract by its content: comments and layout do not count.
func (c *Contract) Hash() ids.Digest { return c.hash }

// Labels lists the adapter names in the order of the contract.
func (c *Contract) Labels() []string {
	labels := make([]string, len(c.Adapters))
	for i, a := range c.Adapters {
		labels[i] = a.Name
	}
	return labels
}

// LabelsFor lists the adapters that a tenant may see, in the order of the contract.
func (c *Contract) LabelsFor(owner string) []string {
	var labels []string
	for _, a := range c.Adapters {
		if a.For(owner) {
			labels = append(labels, a.Name)
		}
	}
	return labels
}

// Adapter finds a registered adapter by name.
func (c *Contract) Adapter(name string) (Adapter, bool) {
	for _, a := range c.Adapters {
		if a.Name == name {
			return a, true
		}
	}
	return Adapter{}, false
}

// For reports whether a tenant may see and use the adapter.
func (a Adapter) For(owner string) bool {
	return len(a.Owners) == 0 || slices.Contains(a.Owners, owner)
}

func (c *Contract) seal() error {
	b, err := canonical.Bytes(c)
	if err != nil {
		return err
	}
	c.bytes, c.hash = b, ids.DigestOf(b)
	return nil
}
