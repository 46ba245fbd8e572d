package upstream

import (
	"encoding/json"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/jsonscan"
)

// maxCalls bounds the tool calls of one answer.
const maxCalls = 128

// piece is one chunk of a stream, or a whole completion: what is read of either.
type piece struct {
	Choices []pieceChoice `json:"choices"`
	Usage   *pieceUsage   `json:"usage"`
	Prompt  []int32       `json:"prompt_token_ids"`
}

type pieceChoice struct {
	Delta        *pieceDelta `json:"delta"`
	Message      *pieceDelta `json:"message"`
	FinishReason string      `json:"finish_reason"`
	StopReason   any         `json:"stop_reason"` // a stop string, or a token
	TokenIDs     []int32     `json:"token_ids"`
	Logprobs     *struct {
		Content []pieceLogprob `json:"content"`
	} `json:"logprobs"`
}

type pieceDelta struct {
	Content          json.RawMessage `json:"content"`
	Refusal          string          `json:"refusal"`
	Reasoning        string          `json:"reasoning"`
	ReasoningContent string          `json:"reasoning_content"`
	ToolCalls        []pieceCall     `json:"tool_calls"`
}

type pieceCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type pieceLogprob struct {
	Token   string         `json:"token"`
	Logprob float64        `json:"logprob"`
	Bytes   []int          `json:"bytes"`
	Top     []pieceLogprob `json:"top_logprobs"`
}

type pieceUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Details          *struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// textOf reads content as a string, or as a list of text parts as some servers send it.
func textOf(raw json.RawMessage) string {
	s, ok := jsonscan.String(raw)
	if ok || len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) == nil {
		for _, p := range parts {
			s += p.Text
		}
	}
	return s
}

// call gives a piece its place: the server's index, or, where it sends none, a new
// one for each new id.
func (p *parser) call(c pieceCall) *chat.ToolCallDelta {
	fresh := c.ID != "" && c.ID != p.lastID || p.calls == 0
	d := &chat.ToolCallDelta{ID: c.ID, Name: c.Function.Name, Arguments: argumentsOf(c.Function.Arguments)}
	switch {
	case c.Index != nil:
		d.Index = *c.Index
		fresh = d.Index >= p.calls
		p.calls = max(p.calls, d.Index+1)
	case fresh || c.Function.Name != "" && c.ID == "":
		fresh = true
		d.Index = p.calls
		p.calls++
	default:
		d.Index = p.calls - 1
	}
	if fresh && d.ID == "" {
		d.ID = backend.NewCallID()
	}
	if c.ID != "" {
		p.lastID = c.ID
	}
	return d
}

// argumentsOf keeps a string as it is; some servers send the object itself.
func argumentsOf(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func logprobs(in []pieceLogprob) []chat.TokenLogprob {
	var out []chat.TokenLogprob
	for _, t := range in {
		b := []byte(t.Token)
		if len(t.Bytes) > 0 {
			b = b[:0]
			for _, x := range t.Bytes {
				b = append(b, byte(x))
			}
		}
		out = append(out, chat.TokenLogprob{ID: -1, Bytes: b, Logprob: t.Logprob, Top: logprobs(t.Top)})
	}
	return out
}
