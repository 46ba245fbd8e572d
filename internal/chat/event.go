package chat

import (
	"time"

	"macaron/internal/money"
)

// Event is one step of a generation, the same for every backend and every API.
// Exactly one of the pointers or Text/Reasoning is set; Finish is always the last.
type Event struct {
	Start     *Start         // first: the prompt is in, nothing is out yet
	Text      string         // a piece of the answer, whole runes
	Reasoning string         // a piece of the reasoning, from engines that have one
	ToolCall  *ToolCallDelta // a piece of a tool call
	Tokens    []TokenLogprob // with Text: the sampled tokens and logprobs, when wanted
	Choice    *Choice        // the answer of a constrained choice
	Finish    *Finish
	More      bool // the next one comes at once: whoever sends them on may send both together
}

// Start tells what the backend made of the request.
type Start struct {
	PromptTokens int
	CachedTokens int            // of PromptTokens, those whose KV was reused
	Prompt       []TokenLogprob // the prompt itself, when wanted; the first has no Logprob
	Engine       Engine
	Rate         money.Rate // what it costs, by the price table of the machine; zero: nobody knows
}

// Engine is what a backend reports about itself on every hop.
type Engine struct {
	Name      string `json:"name"`
	Version   string `json:"version,omitempty"`
	Base      string `json:"base,omitempty"`      // digest of the base
	Template  string `json:"template,omitempty"`  // digest of the chat template
	Tokenizer string `json:"tokenizer,omitempty"` // digest of the tokenizer
}

// ToolCallDelta is a piece of the Index-th tool call. ID and Name come with the
// first piece; Arguments pieces join to a JSON text.
type ToolCallDelta struct {
	Index     int
	ID        string
	Name      string
	Arguments string
}

// TokenLogprob is one sampled token: its id, bytes, natural-log probability and
// the likeliest alternatives.
type TokenLogprob struct {
	ID      int32
	Bytes   []byte
	Logprob float64
	Top     []TokenLogprob
	Rank    int // 1 for the likeliest; 0 unknown
}

// Choice is the result of a constrained choice: the label taken and the exact
// probability of every label, normalised over the labels (sum 1).
type Choice struct {
	Label         string
	Probabilities map[string]float64
}

// Finish ends a generation.
type Finish struct {
	Reason FinishReason
	Usage  Usage
	Raw    []int32        // token ids served, when the backend knows them
	Logps  []float32      // natural-log probability of each, same length as Raw
	Prompt []int32        // token ids of the prompt, from servers that made it of messages and tell, when wanted
	Tokens []TokenLogprob // sampled tokens that no text came with, when wanted: the end of the turn, those of a stop
	Stop   string         // the stop string that ended the answer
	StopID *int32         // the token of StopIDs that did
	Queued time.Duration  // until the engine began
}

// FinishReason says why a generation ended.
type FinishReason string

// The reasons.
const (
	FinishStop   FinishReason = "stop"
	FinishLength FinishReason = "length"
	FinishTools  FinishReason = "tool_calls"
	FinishFilter FinishReason = "content_filter"
)

// Usage counts the tokens and time of one hop, or sums of hops.
type Usage struct {
	PromptTokens int           `json:"prompt_tokens"`
	CachedTokens int           `json:"cached_tokens"`
	OutputTokens int           `json:"output_tokens"`
	First        time.Duration `json:"first_ns"` // until the first token
	Total        time.Duration `json:"total_ns"`

	// Overlay is how many tokens of the prompt another adapter computed; when it is not 0
	// the answer is approximate.
	Overlay int `json:"overlay_tokens,omitempty"`
	// Dormant: the adapter waits for invocation tokens that the prompt does not have, and
	// the base answered.
	Dormant bool `json:"adapter_dormant,omitempty"`
}

// Add sums u and v, First being that of u.
func (u Usage) Add(v Usage) Usage {
	u.PromptTokens += v.PromptTokens
	u.CachedTokens += v.CachedTokens
	u.OutputTokens += v.OutputTokens
	u.Total += v.Total
	return u
}
