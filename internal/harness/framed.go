package harness

import (
	"encoding/json"
	"strings"

	"macaron/internal/backend"
	"macaron/internal/chat"
)

// framing reports whether the model writes its calls in texts of the contract's own.
func (r *run) framing() bool { return r.contract.Tokens.Call != "" }

// frame shows a request to a model that was trained on the texts of [tokens]: tools stand
// in the head, calls and results between their texts, and the engine's template, which
// has its own, sees plain messages.
func (r *run) frame(q *backend.Request) error {
	t := r.contract.Tokens
	if t.Call == "" && t.Result == "" {
		return nil
	}
	out := make([]chat.Message, 0, len(q.Messages))
	for _, m := range q.Messages {
		switch {
		case m.Role == chat.Tool && t.Call == "":
			text := m
			text.Parts = chat.Text(chat.Tool, t.Result+m.Text()+t.ResultEnd).Parts
			m = text
		case m.Role == chat.Tool:
			m = chat.Text(chat.User, t.Result+m.Text()+t.ResultEnd)
		case len(m.ToolCalls) > 0 && t.Call != "":
			text, err := r.written(m)
			if err != nil {
				return err
			}
			m = chat.Text(m.Role, text)
		}
		out = append(out, m)
	}
	q.Messages = out
	if t.Call == "" {
		return nil
	}
	if len(q.Tools) > 0 {
		var lines []string
		for _, d := range q.Tools {
			line, err := plain(map[string]any{"type": "function", "function": d})
			if err != nil {
				return err
			}
			lines = append(lines, string(line))
		}
		q.Messages[0] = chat.Text(chat.System, q.Messages[0].Text()+"\n\n"+strings.ReplaceAll(q.ToolPrompt, "{{tools}}", strings.Join(lines, "\n")))
	}
	q.Tools, q.ToolChoice = nil, chat.ToolChoice{}
	q.Decoding.KeepSpecial = r.h.Generator.Capabilities().TakesTokens // the texts may be tokens of their own
	return nil
}

// written is an answer as the model wrote it.
func (r *run) written(m chat.Message) (string, error) {
	t, text := r.contract.Tokens, m.Text()
	for _, c := range m.ToolCalls {
		args := json.RawMessage(c.Arguments)
		if !json.Valid(args) {
			args = json.RawMessage("{}")
		}
		call, err := plain(framedCall{c.Name, args})
		if err != nil {
			return "", err
		}
		text += t.Call + string(call) + t.CallEnd
	}
	return text, nil
}

// framedCall is what stands between tokens.call and tokens.call_end.
type framedCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// unframe takes the calls out of an answer's text. What is no call stays text, and the
// model is told (astray).
func (r *run) unframe(m chat.Message) chat.Message {
	if !r.framing() {
		return m
	}
	var kept strings.Builder
	rest := m.Text()
	for {
		before, after, found := strings.Cut(rest, r.contract.Tokens.Call)
		inner, behind, closed := strings.Cut(after, r.contract.Tokens.CallEnd)
		var c framedCall
		if !found || !closed || json.Unmarshal([]byte(inner), &c) != nil || c.Name == "" {
			break
		}
		kept.WriteString(before)
		m.ToolCalls = append(m.ToolCalls, chat.ToolCall{Name: c.Name, Arguments: string(c.Arguments)})
		rest = behind
	}
	if len(m.ToolCalls) == 0 {
		return m
	}
	m.Parts = nil
	if text := kept.String() + rest; strings.TrimSpace(text) != "" {
		m.Parts = chat.Text(chat.Assistant, text).Parts
	}
	return m
}
