// Package backend declares Generator, the one interface to a model. The embedded
// engine (local) and OpenAI-compatible servers (upstream) stand behind it, and the
// turn, the harness, benchmarks and training all call it alike.
package backend

import (
	"context"
	"iter"

	"macaron/internal/adapter"
	"macaron/internal/chat"
)

// Request asks for one generation. Either Messages or Tokens is the prompt.
type Request struct {
	Messages   []chat.Message
	Tokens     []int32
	Tools      []chat.ToolDef
	ToolChoice chat.ToolChoice
	ToolPrompt string // contract text with {{tools}}, for templates that have no place for tools
	Revision   adapter.Revision
	Choices    []string // non-empty: constrained choice, exactly one of these
	Sampling   chat.Sampling
	MaxTokens  int    // at most; 0 means the backend's limit
	Salt       string // tenant: cached prefixes are shared within one salt only
	Wanted     Wanted
	Reasoning  string // reasoning effort as the client gave it, for engines that take one
}

// Wanted says which extras the caller will use.
type Wanted struct {
	TokenIDs bool // Finish.Raw and Finish.Logps
}

// Generator makes answers. The sequence yields events until Finish, or one error
// and nothing more; stopping the iteration or ending ctx stops the generation within
// one token. Safe for concurrent use.
type Generator interface {
	Generate(ctx context.Context, r Request) iter.Seq2[chat.Event, error]
	Capabilities() Capabilities
	// Ready reports whether requests can be served now, with the reason if not.
	Ready(ctx context.Context) error
}

// Capabilities says what a backend can do, so that the rest is refused early.
type Capabilities struct {
	Engine       chat.Engine
	Adapters     bool // per-request adapters
	Choices      bool // exact constrained choice with probabilities
	Logprobs     bool
	TokenIDs     bool
	Tools        bool
	ForcedTools  bool // tool_choice required and function are kept to
	Images       bool
	JSONSchema   bool
	Reasoning    bool // Request.Reasoning is heeded
	Context      int  // tokens; 0 unknown
	CachedTokens bool
}
