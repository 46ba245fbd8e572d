// Package chat holds the neutral words of a conversation: messages, tools,
// sampling, events, usage. They are the only types that cross rooms on the
// request path; each wire format has one decoder to them and one encoder from them.
package chat

import (
	"encoding/json"
	"strings"
)

// Role says who speaks.
type Role string

// The roles.
const (
	System    Role = "system" // developer messages arrive as system
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Message is one utterance. Assistant messages may carry tool calls; a tool
// message answers one by ToolCallID.
type Message struct {
	Role       Role       `json:"role"`
	Parts      []Part     `json:"parts,omitempty"`
	Name       string     `json:"name,omitempty"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Reasoning  string     `json:"reasoning,omitempty"`
}

// Part is a piece of content. Text has Text; any other kind keeps the client's
// JSON in Raw and passes through to engines that take it.
type Part struct {
	Kind string          `json:"kind"` // "text", "image", "file"
	Text string          `json:"text,omitempty"`
	Raw  json.RawMessage `json:"raw,omitempty"`
}

// Text makes a message of one text part.
func Text(role Role, text string) Message {
	return Message{Role: role, Parts: []Part{{Kind: "text", Text: text}}}
}

// Text joins the text parts, with a newline between two.
func (m Message) Text() string {
	if len(m.Parts) == 1 && m.Parts[0].Kind == "text" {
		return m.Parts[0].Text
	}
	var texts []string
	for _, p := range m.Parts {
		if p.Kind == "text" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// ToolCall is a call that an assistant asks for. Arguments is a JSON text, kept
// byte for byte.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ToolDef is a function that the client offers. Parameters is its JSON Schema,
// kept byte for byte so that key order survives into prompts.
type ToolDef struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Strict      *bool           `json:"strict,omitempty"`
}

// ToolChoice says whether tools may or must be called: "auto" (or empty), "none",
// "required", or "function" with Name. Single asks for at most one call an answer. Without are
// tools that would be refused if they were called now: the model is told of them as ever, and
// an engine that holds answers to a grammar leaves them out of it.
type ToolChoice struct {
	Mode    string   `json:"mode,omitempty"`
	Name    string   `json:"name,omitempty"`
	Single  bool     `json:"single,omitempty"`
	Without []string `json:"without,omitempty"`
}

// Sampling holds the client's or the contract's choices; a nil pointer means unset.
type Sampling struct {
	Temperature       *float64        `json:"temperature,omitempty"`
	TopP              *float64        `json:"top_p,omitempty"`
	TopK              *int            `json:"top_k,omitempty"`
	MinP              *float64        `json:"min_p,omitempty"`
	RepetitionPenalty *float64        `json:"repetition_penalty,omitempty"`
	PresencePenalty   *float64        `json:"presence_penalty,omitempty"`
	FrequencyPenalty  *float64        `json:"frequency_penalty,omitempty"`
	Seed              *int64          `json:"seed,omitempty"`
	Stop              []string        `json:"stop,omitempty"`
	Logprobs          bool            `json:"logprobs,omitempty"`
	TopLogprobs       int             `json:"top_logprobs,omitempty"`
	ResponseFormat    json.RawMessage `json:"response_format,omitempty"`
}

// Over returns s with every unset field taken from base: the client's choices
// over the contract's.
func (s Sampling) Over(base Sampling) Sampling {
	pick(&s.Temperature, base.Temperature)
	pick(&s.TopP, base.TopP)
	pick(&s.TopK, base.TopK)
	pick(&s.MinP, base.MinP)
	pick(&s.RepetitionPenalty, base.RepetitionPenalty)
	pick(&s.PresencePenalty, base.PresencePenalty)
	pick(&s.FrequencyPenalty, base.FrequencyPenalty)
	pick(&s.Seed, base.Seed)
	if s.Stop == nil {
		s.Stop = base.Stop
	}
	return s
}

func pick[T any](to **T, from *T) {
	if *to == nil {
		*to = from
	}
}
