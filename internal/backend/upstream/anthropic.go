package upstream

import (
	"encoding/json"
	"net/http"
	"strings"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// anthropic: the Messages API. Nothing tells it from others, so the settings name it. It
// takes no constraints, and tells no log probabilities.
var anthropic = &dialect{
	name:  "anthropic",
	known: func(*Facts) bool { return false },
	path:  "/messages",
	write: writeMessages,
	read:  readMessages,
	sign: func(h http.Header, key string) {
		h.Set("Anthropic-Version", "2023-06-01")
		if key != "" {
			h.Set("X-Api-Key", key)
		}
	},
}

// answerTokens is max_tokens, which this API wants, where nobody said anything.
const answerTokens = 4096

type messagesBody struct {
	Model         string         `json:"model"`
	MaxTokens     int            `json:"max_tokens"`
	Stream        bool           `json:"stream"`
	System        string         `json:"system,omitempty"`
	Messages      []blockMessage `json:"messages"`
	Tools         []blockTool    `json:"tools,omitempty"`
	ToolChoice    *blockChoice   `json:"tool_choice,omitempty"`
	StopSequences []string       `json:"stop_sequences,omitempty"`
	Temperature   *float64       `json:"temperature,omitempty"`
	TopP          *float64       `json:"top_p,omitempty"`
}

type blockMessage struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a piece of a message: text, tool_use or tool_result.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
}

type blockTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type blockChoice struct {
	Type   string `json:"type"`
	Name   string `json:"name,omitempty"`
	Single bool   `json:"disable_parallel_tool_use,omitempty"`
}

// writeMessages writes a request. All system texts go to the head, and what follows one
// another of one side becomes one message, results first, as the API wants.
func writeMessages(q body, r backend.Request) ([]byte, error) {
	out := messagesBody{Model: q.Model, MaxTokens: q.MaxTokens, Stream: q.Stream, StopSequences: q.Stop, Temperature: q.Temperature, TopP: q.TopP}
	if out.MaxTokens == 0 {
		out.MaxTokens = answerTokens
	}
	var system []string
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Kind != "text" {
				return nil, errs.New(errs.Unsupported, "an engine of the kind anthropic is sent text only", "leave "+errs.Clip(p.Kind)+" out").In("messages")
			}
		}
		if m.Role == chat.System {
			system = append(system, m.Text())
			continue
		}
		out.add(m)
	}
	out.System = strings.Join(system, "\n\n")
	out.offer(r)
	return json.Marshal(out)
}

func (q *messagesBody) add(m chat.Message) {
	role, blocks := "user", []block(nil)
	switch text := m.Text(); {
	case m.Role == chat.Tool:
		blocks = []block{{Type: "tool_result", ToolUseID: m.ToolCallID, Content: text}}
	case strings.TrimSpace(text) != "": // an empty text is refused
		blocks = []block{{Type: "text", Text: text}}
	}
	if m.Role == chat.Assistant {
		role = "assistant"
	}
	for _, c := range m.ToolCalls {
		input := json.RawMessage(c.Arguments)
		if !json.Valid(input) || input[0] != '{' {
			input = json.RawMessage("{}")
		}
		blocks = append(blocks, block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: input})
	}
	if n := len(q.Messages); n > 0 && q.Messages[n-1].Role == role {
		q.Messages[n-1].Content = append(q.Messages[n-1].Content, blocks...)
	} else if len(blocks) > 0 {
		q.Messages = append(q.Messages, blockMessage{role, blocks})
	}
}

// offer puts the tools in.
func (q *messagesBody) offer(r backend.Request) {
	for _, t := range r.Tools {
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		q.Tools = append(q.Tools, blockTool{t.Name, t.Description, schema})
	}
	mode := map[string]string{"": "auto", "auto": "auto", "required": "any", "function": "tool", "none": "none"}[r.ToolChoice.Mode]
	if len(r.Tools) > 0 && (mode != "auto" || r.ToolChoice.Single) {
		q.ToolChoice = &blockChoice{Type: mode, Name: r.ToolChoice.Name, Single: r.ToolChoice.Single && mode != "none"}
	}
}
