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
	Session    string // requests of one session take turns with all others as one; empty: this one by itself
	Wanted     Wanted
	Begun      string     // what the answer goes on from: its own beginning, which is not told again
	Quiet      bool       // the answer is not thought about first, where an engine can be told so
	Reasoning  string     // reasoning effort as the client gave it, for engines that take one
	Mixture    []Weighted // adapters that are added up, instead of Revision
	Overlay    Overlay
	Constraint Constraint // what the text of the answer must be
	Decoding   Decoding
	Hop        Hop
}

// Hop says what a model call is for. Telemetry tells it; nothing depends on it.
type Hop struct {
	Kind string // as in the log
	Turn string // whose summary it is, since that comes after its turn
}

// Weighted is an adapter and what its effect is multiplied with.
type Weighted struct {
	Revision adapter.Revision
	Scale    float32
}

// Overlay has the first Tokens of the prompt computed by another adapter, one that has
// read them already; the zero Revision is the base. The answer is approximate then, and
// Usage.Overlay says so. Like asks for as many tokens as the prompt shares with that of
// these messages, in the place of Tokens. Without either there is none.
type Overlay struct {
	Revision adapter.Revision
	Tokens   int
	Like     []chat.Message
}

// Constraint is a language that the answer must be in. Kind says how Text describes it;
// the empty one allows everything.
type Constraint struct {
	Kind  ConstraintKind
	Text  string
	Field string // of the client's request, for errors
	Whole bool   // the answer comes to an end of the language within MaxTokens, where an engine can do that
}

// ConstraintKind is a way to describe a language.
type ConstraintKind string

// The kinds.
const (
	AnyText    ConstraintKind = ""
	JSONObject ConstraintKind = "json_object" // any JSON object; no Text
	JSONSchema ConstraintKind = "json_schema" // Text is the schema
	Regex      ConstraintKind = "regex"
	Grammar    ConstraintKind = "grammar" // Text is EBNF
)

// Decoding is what only engines that own their sampler can do.
type Decoding struct {
	Bias        map[int32]float32 // added to the logits of tokens
	StopIDs     []int32           // tokens that end the answer and leave no text
	IgnoreEOS   bool              // the end of a turn ends nothing
	MinTokens   int               // before the answer may end
	KeepSpecial bool              // the text of control tokens is kept
	DrawChoice  bool              // a choice is drawn at the temperature; else the likeliest is taken
	Bare        bool              // the prompt does not begin an answer
}

// Asked puts the beginning of the answer, which an engine cannot go on from, at the end of the
// question.
func (r Request) Asked() Request {
	n := len(r.Messages) - 1
	if r.Begun == "" || n < 0 {
		return r
	}
	last := r.Messages[n]
	last.Parts = append(last.Parts[:len(last.Parts):len(last.Parts)], chat.Part{Kind: "text", Text: r.Begun}) // on a line of its own
	r.Messages, r.Begun = append(r.Messages[:n:n], last), ""
	return r
}

// Plain reports whether nothing is asked for that needs an engine's own sampler.
func (r *Request) Plain() bool {
	d := r.Decoding
	return len(r.Mixture) == 0 && r.Overlay.Tokens == 0 && r.Overlay.Like == nil && r.Constraint.Kind == AnyText && len(d.Bias) == 0 && len(d.StopIDs) == 0 && !d.IgnoreEOS &&
		d.MinTokens == 0 && !d.KeepSpecial && !d.DrawChoice && !d.Bare && !r.Wanted.Prompt && r.Wanted.PromptLogprobs == nil
}

// Wanted says which extras the caller will use.
type Wanted struct {
	TokenIDs       bool // Finish.Raw and Finish.Logps, where they cost nothing
	Rows           bool // the same and Finish.Prompt, also of servers that have to be asked: the answer may be trained on
	Prompt         bool // Start.Prompt
	PromptLogprobs *int // log probabilities in Start.Prompt, with so many alternatives
	Whole          bool // nobody waits for the pieces of the text: it may come in one
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
	Overlays     bool // Request.Overlay
	JSONSchema   bool
	Grammars     bool // Request.Constraint of every kind, and Whole, are kept to
	Reasoning    bool // Request.Reasoning is heeded
	Samplers     bool // top_k, min_p and repetition_penalty are heeded
	Context      int  // tokens; 0 unknown
	CachedTokens bool
	TakesTokens  bool // Request.Tokens is taken, and the Generator is a Tokenizer
}

// Divided is a Generator that can do more under some adapters than under others, as where
// they live on different engines. Its Capabilities are those that all have.
type Divided interface {
	CapabilitiesOf(adapter string) Capabilities
}

// CapabilitiesOf gives what a generator can do under an adapter; "" is any.
func CapabilitiesOf(g Generator, adapter string) Capabilities {
	if d, ok := g.(Divided); ok && adapter != "" {
		return d.CapabilitiesOf(adapter)
	}
	return g.Capabilities()
}
