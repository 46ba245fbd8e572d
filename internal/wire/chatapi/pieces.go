package chatapi

import (
	"strings"

	"macaron/internal/chat"
)

// Usage counts the tokens of an answer.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	Details          struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// UsageOf writes the counts.
func UsageOf(u chat.Usage) *Usage {
	out := &Usage{PromptTokens: u.PromptTokens, CompletionTokens: u.OutputTokens, TotalTokens: u.PromptTokens + u.OutputTokens}
	out.Details.CachedTokens = u.CachedTokens
	return out
}

// ToolCall is a call in an answer; in a stream, a piece of one.
type ToolCall struct {
	Index    *int         `json:"index,omitempty"` // streams only
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function ToolFunction `json:"function"`
}

// ToolFunction is the function called.
type ToolFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// Logprobs are those of the tokens of an answer.
type Logprobs struct {
	Content []Logprob `json:"content"`
	Refusal []Logprob `json:"refusal"`
}

// Logprob is that of one token.
type Logprob struct {
	Token   string    `json:"token"`
	Logprob float64   `json:"logprob"`
	Bytes   []int     `json:"bytes"`
	Top     []Logprob `json:"top_logprobs,omitempty"`
}

// LogprobsOf writes log probabilities, nil for none.
func LogprobsOf(tokens []chat.TokenLogprob) *Logprobs {
	if len(tokens) == 0 {
		return nil
	}
	return &Logprobs{Content: logprobList(tokens)}
}

func logprobList(tokens []chat.TokenLogprob) []Logprob {
	out := make([]Logprob, len(tokens))
	for i, t := range tokens {
		bytes := make([]int, len(t.Bytes))
		for j, b := range t.Bytes {
			bytes[j] = int(b)
		}
		// JSON has no minus infinity; this is what the API sends for "impossible".
		out[i] = Logprob{Token: strings.ToValidUTF8(string(t.Bytes), "\uFFFD"), Logprob: max(t.Logprob, -9999), Bytes: bytes, Top: logprobList(t.Top)}
	}
	return out
}

// CallPiece writes a piece of a call for a stream.
func CallPiece(d chat.ToolCallDelta) ToolCall {
	c := ToolCall{Index: &d.Index, ID: d.ID, Function: ToolFunction{Name: d.Name, Arguments: d.Arguments}}
	if d.ID != "" {
		c.Type = "function"
	}
	return c
}
