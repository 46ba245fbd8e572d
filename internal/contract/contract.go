// Package contract reads the harness contract (HCP, schemas "macaron.hcp/1" and "/2"):
// the adapters with their descriptions, the prompts, the router, the budgets and the
// sampling that decide behaviour, and how an agent acts: its tools, hooks, memory,
// workspace and sandbox. It is the only place where prompts are expanded.
// Parse and everything after it is pure; the format is docs/formats/hcp.md.
package contract

import (
	"slices"
	"strings"

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
	Schema   string    `toml:"schema" json:"schema" rule:"need"`
	Name     string    `toml:"name" json:"name" rule:"need"`
	Version  string    `toml:"version" json:"version" rule:"need"`
	Model    Model     `toml:"model" json:"model" rule:"need"`
	Prompts  Prompts   `toml:"prompts" json:"prompts" rule:"need"`
	Router   Router    `toml:"router" json:"router" rule:"need"`
	Budgets  Budgets   `toml:"budgets" json:"budgets" rule:"need"`
	Sampling Sampling  `toml:"sampling" json:"sampling"`
	Split    *Split    `toml:"split" json:"split,omitempty"`
	View     *View     `toml:"view" json:"view,omitempty"`
	Adapters []Adapter `toml:"adapters" json:"adapters" rule:"need count=1..1024"`

	// Of schema 2. What is absent is left out of the canonical bytes.
	Parents     []ids.Digest `toml:"parents" json:"parents,omitempty" rule:"count=1..16 form=digest"` // contracts that this one was made from
	Runtime     Runtime      `toml:"runtime" json:"runtime,omitzero"`
	Agent       Agent        `toml:"agent" json:"agent,omitzero"`
	Memory      Memory       `toml:"memory" json:"memory,omitzero"`
	Resources   Resources    `toml:"resources" json:"resources,omitzero"`
	Tools       []Tool       `toml:"tools" json:"tools,omitempty" rule:"count=1..256"`
	MCP         []Server     `toml:"mcp" json:"mcp,omitempty" rule:"count=1..256"`
	Policies    Policies     `toml:"policies" json:"policies,omitzero"`
	Skills      []Skill      `toml:"skills" json:"skills,omitempty" rule:"count=1..256"`
	Hooks       []Hook       `toml:"hooks" json:"hooks,omitempty" rule:"count=1..256"`
	Workspace   Workspace    `toml:"workspace" json:"workspace,omitzero"`
	Environment Environment  `toml:"environment" json:"environment,omitzero"`
	Tokens      Tokens       `toml:"tokens" json:"tokens,omitzero"`
	Sandbox     Sandbox      `toml:"sandbox" json:"sandbox,omitzero"`

	bytes []byte
	hash  ids.Digest
	said  []byte // the text of the contract's own file, for its comments
}

// Model names the base that the adapters were made for.
type Model struct {
	Base string `toml:"base" json:"base" rule:"need"`
}

// planted is the base of the contracts of planted problems: no model has the name.
const planted = "scripted"

// Planted reports whether a contract is one of a planted problem, at which a scripted policy acts
// and no engine.
func (c *Contract) Planted() bool { return c.Model.Base == planted }

// Prompts are the texts of the loop, with their placeholders in double braces.
type Prompts struct {
	System  string `toml:"system" json:"system" rule:"need"`   // {{specialist}}
	Route   string `toml:"route" json:"route" rule:"need"`     // {{adapters}}, {{order}}
	Summary string `toml:"summary" json:"summary" rule:"need"` // none
	Foreign string `toml:"foreign" json:"foreign" rule:"need"` // {{summary}}
	Tools   string `toml:"tools" json:"tools" rule:"need"`     // {{tools}}
}

// Router says who routes, what happens when it fails, and how much it sees.
type Router struct {
	Adapter        string   `toml:"adapter" json:"adapter" rule:"need form=label"`                   // runs the route hop
	Default        string   `toml:"default" json:"default" rule:"need form=label"`                   // taken when routing fails
	Order          []string `toml:"order" json:"order" rule:"count=0..1024 form=label"`              // labels by priority
	MinProbability float64  `toml:"min_probability" json:"min_probability" rule:"range=0..1"`        // below it, Default is taken
	RequestChars   int      `toml:"request_chars" json:"request_chars" rule:"need range=1..1048576"` // runes of the request
	ContextChars   int      `toml:"context_chars" json:"context_chars" rule:"range=0..1048576"`      // runes of the previous request
	StickyMargin   float64  `toml:"sticky_margin" json:"sticky_margin,omitempty" rule:"range=0..1"`  // the last adapter stays unless another is likelier by more
	Summaries      int      `toml:"summaries" json:"summaries,omitempty" rule:"range=0..16"`         // recent turns whose summaries the router sees
	Overlay        bool     `toml:"overlay" json:"overlay,omitempty"`                                // the answer goes on from the route hop's prompt
	Layout         string   `toml:"layout" json:"layout,omitempty" rule:"one=mol"`                   // of the route prompt; "": that of docs/formats/routing.md, version 1
	Stem           string   `toml:"stem" json:"stem,omitempty"`                                      // of layout mol: what the label continues
	Shortlist      int      `toml:"shortlist" json:"shortlist,omitempty" rule:"range=0..1024"`       // adapters that reach the prompt; 0: all
}

// LayoutMol is the route prompt of the Python harness for Mixtures of LoRA: the request as it
// stands, then the instruction, and the label after a stem. Its router adapters know no other.
const LayoutMol = "mol"

// Quiet reports whether the route and summary hops are asked not to think first, as engines
// with thinking models have to be told; some with other templates refuse to be.
func (c *Contract) Quiet() bool { return c.Router.Layout == LayoutMol }

// Budgets bound the hops, in tokens, and the wait for a summary, in milliseconds.
type Budgets struct {
	RouteTokens   int `toml:"route_tokens" json:"route_tokens" rule:"need range=1..1048576"`
	SummaryTokens int `toml:"summary_tokens" json:"summary_tokens" rule:"need range=1..1048576"`
	AnswerTokens  int `toml:"answer_tokens" json:"answer_tokens" rule:"need range=1..1048576"`
	SummaryWaitMS int `toml:"summary_wait_ms" json:"summary_wait_ms" rule:"range=0..600000"`
}

// Sampling is what the answer hop uses where the client says nothing.
type Sampling struct {
	Temperature       *float64 `toml:"temperature" json:"temperature,omitempty" rule:"range=0..100"`
	TopP              *float64 `toml:"top_p" json:"top_p,omitempty" rule:"range=0..1"`
	TopK              *int     `toml:"top_k" json:"top_k,omitempty" rule:"range=0..1048576"`
	MinP              *float64 `toml:"min_p" json:"min_p,omitempty" rule:"range=0..1"`
	RepetitionPenalty *float64 `toml:"repetition_penalty" json:"repetition_penalty,omitempty" rule:"range=0.01..100"`
}

// Chat gives the sampling in the neutral form, for chat.Sampling.Over.
func (s Sampling) Chat() chat.Sampling {
	return chat.Sampling{Temperature: s.Temperature, TopP: s.TopP, TopK: s.TopK, MinP: s.MinP, RepetitionPenalty: s.RepetitionPenalty}
}

// Adapter registers one specialist.
type Adapter struct {
	Name        string `toml:"name" json:"name" rule:"need form=label"`              // the label
	Title       string `toml:"title" json:"title"`                                   // for people
	Source      string `toml:"source" json:"source" rule:"need"`                     // directory, sha256:HASH or model:NAME
	Description string `toml:"description" json:"description" rule:"need form=line"` // one line, for the router
	Prompt      string `toml:"prompt" json:"prompt"`                                 // takes the place of {{specialist}}; may have {{ui4a}}

	Language string `toml:"language" json:"language,omitempty" rule:"one=ui4a"` // what its answers are held to where the engine can; "": nothing

	// Whom it is for: whole tenants, and single users of tenants. Neither: everybody.
	Owners []string `toml:"owners" json:"owners,omitempty" rule:"count=1..256"`
	Users  []string `toml:"users" json:"users,omitempty" rule:"count=1..1024 form=user"` // TENANT/USER
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

// LabelsFor lists the adapters that a tenant's user may see, in the order of the contract.
func (c *Contract) LabelsFor(owner, user string) []string {
	var labels []string
	for _, a := range c.Adapters {
		if a.For(owner, user) {
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

// Private reports whether the adapter is not for everybody.
func (a Adapter) Private() bool { return len(a.Owners)+len(a.Users) > 0 }

// For reports whether a user of a tenant may see and use the adapter; "" is nobody in
// particular, who has what the whole tenant has.
func (a Adapter) For(owner, user string) bool {
	return !a.Private() || slices.Contains(a.Owners, owner) || user != "" && slices.Contains(a.Users, owner+"/"+user)
}

// Within reports whether anybody of a tenant may see and use the adapter.
func (a Adapter) Within(owner string) bool {
	return a.For(owner, "") || slices.ContainsFunc(a.Users, func(u string) bool { return strings.HasPrefix(u, owner+"/") })
}

func (c *Contract) seal() error {
	b, err := canonical.Bytes(c)
	if err != nil {
		return err
	}
	c.bytes, c.hash = b, ids.DigestOf(b)
	return nil
}
