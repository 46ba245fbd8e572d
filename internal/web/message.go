package web

import "macaron/internal/chat"

// message is a chat message in the form of the chat API.
type message struct {
	Role       chat.Role `json:"role"`
	Content    any       `json:"content"` // a string, a list of parts, or null
	Name       string    `json:"name,omitempty"`
	ToolCalls  []call    `json:"tool_calls,omitempty"`
	ToolCallID string    `json:"tool_call_id,omitempty"`
	Reasoning  string    `json:"reasoning_content,omitempty"`
}

type call struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function functionCall `json:"function"`
}

type functionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func messagesOf(all []chat.Message) []message {
	out := make([]message, 0, len(all))
	for _, m := range all {
		out = append(out, messageOf(m))
	}
	return out
}

func messageOf(m chat.Message) message {
	out := message{Role: m.Role, Content: contentOf(m.Parts), Name: m.Name, ToolCallID: m.ToolCallID, Reasoning: m.Reasoning}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, call{ID: c.ID, Type: "function", Function: functionCall{Name: c.Name, Arguments: c.Arguments}})
	}
	return out
}

// contentOf gives a single text as a string and anything else as parts, those that
// are not text as the client sent them.
func contentOf(parts []chat.Part) any {
	if len(parts) == 0 {
		return nil
	}
	if len(parts) == 1 && parts[0].Kind == "text" {
		return parts[0].Text
	}
	list := make([]any, 0, len(parts))
	for _, p := range parts {
		if p.Kind == "text" {
			list = append(list, textPart{Type: "text", Text: p.Text})
		} else if len(p.Raw) > 0 {
			list = append(list, p.Raw)
		}
	}
	return list
}
