package obs

import (
	"encoding/json"

	"macaron/internal/backend"
	"macaron/internal/chat"
)

// Bounds of what a span shows of a conversation.
const (
	shownMessages = 64
	shownBytes    = 8 << 10 // of one text
)

// said is a message as the GenAI conventions write it (gen_ai.input.messages).
type said struct {
	Role   string `json:"role"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitempty"`
}

type part struct {
	Type      string `json:"type"`
	Content   string `json:"content,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Response  string `json:"response,omitempty"`
}

// messagesText shows the last messages of a prompt.
func messagesText(list []chat.Message) string {
	out := []said{}
	for _, m := range list[max(0, len(list)-shownMessages):] {
		out = append(out, shown(m))
	}
	return encoded(out)
}

// answerText shows an answer, as far as it came.
func answerText(a *backend.Collected) string {
	s := shown(a.Message())
	if a.Choice != nil {
		s.Parts = append(s.Parts, part{Type: "text", Content: a.Choice.Label})
	}
	if a.Finish != nil {
		s.Finish = string(a.Finish.Reason)
	}
	return encoded([]said{s})
}

func shown(m chat.Message) said {
	s := said{Role: string(m.Role), Parts: []part{}}
	if m.Reasoning != "" {
		s.Parts = append(s.Parts, part{Type: "reasoning", Content: clean(m.Reasoning)})
	}
	switch text := m.Text(); {
	case m.Role == chat.Tool:
		s.Parts = append(s.Parts, part{Type: "tool_call_response", ID: m.ToolCallID, Response: clean(text)})
	case text != "":
		s.Parts = append(s.Parts, part{Type: "text", Content: clean(text)})
	}
	for _, c := range m.ToolCalls {
		s.Parts = append(s.Parts, part{Type: "tool_call", ID: c.ID, Name: c.Name, Arguments: clean(c.Arguments)})
	}
	return s
}

// clean bounds a text and strikes out what looks like a credential.
func clean(s string) string {
	if len(s) > shownBytes {
		s = s[:shownBytes] + "..."
	}
	return Redact(s)
}

func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "" // strings always encode
	}
	return string(b)
}
