package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

// members are those of a JSON object.
type members = map[string]json.RawMessage

// unknown reports the members of an object that are not among the known ones.
func (r *request) unknown(field string, m members, known ...string) {
	r.ignored.Rest(field, m, known...)
}

// add appends a message and where it stands in the body.
func (r *request) add(origin string, m chat.Message) {
	r.Messages, r.origins = append(r.Messages, m), append(r.origins, origin)
}

func systemField(r *request, field string, raw json.RawMessage) error {
	parts, err := r.texts(field, raw)
	if len(parts) > 0 {
		r.system = &chat.Message{Role: chat.System, Parts: parts}
	}
	return err
}

func messagesField(r *request, field string, raw json.RawMessage) error {
	items, err := limits.List(field, raw, limits.MessageCount)
	if err != nil {
		return err
	}
	for i, item := range items {
		if err := r.message(fmt.Sprintf("%s[%d]", field, i), item); err != nil {
			return err
		}
	}
	return nil
}

func (r *request) message(field string, raw json.RawMessage) error {
	m, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	r.unknown(field, m, "role", "content")
	role, err := chatapi.OneOf(field+".role", m["role"], "user", "assistant", "system")
	if err != nil {
		return err
	}
	switch role {
	case "assistant":
		return r.assistant(field, m["content"])
	case "user":
		return r.user(field, m["content"])
	}
	parts, err := r.texts(field+".content", m["content"])
	r.add(field, chat.Message{Role: chat.System, Parts: parts})
	return err
}

// assistant reads the model's own message. Its texts are one: they were written as one,
// and it is by the whole that a conversation is found again.
func (r *request) assistant(field string, raw json.RawMessage) error {
	m := chat.Message{Role: chat.Assistant}
	var said, reasoning strings.Builder
	err := r.blocks(field+".content", raw, func(at, kind string, b members) (err error) {
		switch kind {
		case "text":
			p, err := textOf(at, b)
			said.WriteString(p.Text)
			return err
		case "thinking":
			r.unknown(at, b, "type", "thinking", "signature") // nobody here signs thinking
			s, err := limits.Text(at+".thinking", b["thinking"], limits.TextBytes)
			reasoning.WriteString(s)
			return err
		case "redacted_thinking":
			r.ignore(at)
		case "tool_use":
			var c chat.ToolCall
			c, err = r.toolUse(at, b)
			m.ToolCalls = append(m.ToolCalls, c)
		default:
			err = unsupported(at, kind, "an assistant message takes text, thinking, redacted_thinking and tool_use")
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(m.ToolCalls) > limits.CallCount {
		return errs.Newf(errs.TooLarge, "%s has %d tool calls, more than %d", field, len(m.ToolCalls), limits.CallCount).In(field)
	}
	if m.Reasoning = reasoning.String(); said.Len() > 0 {
		m.Parts = []chat.Part{{Kind: "text", Text: said.String()}}
	}
	r.add(field, m)
	return nil
}

func (r *request) toolUse(at string, b members) (c chat.ToolCall, err error) {
	r.unknown(at, b, "type", "id", "name", "input")
	if c.ID, err = limits.Text(at+".id", b["id"], limits.NameBytes); err != nil {
		return c, err
	}
	if c.Name, err = limits.Text(at+".name", b["name"], limits.NameBytes); err != nil {
		return c, err
	}
	if c.ID == "" || c.Name == "" {
		return c, errs.Newf(errs.InvalidRequest, "%s needs an id and a name", at).In(at)
	}
	if _, err = limits.Object(at+".input", b["input"]); err != nil {
		return c, err
	}
	c.Arguments = string(b["input"])
	return c, nil
}

// user reads what people and tools say: the results come first, each a message of its
// own, and then the words.
func (r *request) user(field string, raw json.RawMessage) error {
	m := chat.Message{Role: chat.User}
	results := 0
	err := r.blocks(field+".content", raw, func(at, kind string, b members) error {
		if kind != "tool_result" {
			parts, err := r.parts(at, kind, b)
			m.Parts = append(m.Parts, parts...)
			return err
		}
		if len(m.Parts) > 0 {
			return errs.New(errs.InvalidRequest, at+" is a tool_result behind other content", "put the tool results first").In(at)
		}
		results++
		return r.toolResult(at, b)
	})
	if err == nil && (len(m.Parts) > 0 || results == 0) {
		r.add(field, m)
	}
	return err
}

// failed is how a result says to the model that the tool did not do its work.
const failed = "Error:"

func (r *request) toolResult(at string, b members) (err error) {
	r.unknown(at, b, "type", "tool_use_id", "content", "is_error")
	m := chat.Message{Role: chat.Tool}
	if m.ToolCallID, err = limits.Text(at+".tool_use_id", b["tool_use_id"], limits.NameBytes); err != nil {
		return err
	}
	if e := b["is_error"]; !limits.Absent(e) {
		bad, err := limits.Bool(at+".is_error", e)
		if err != nil {
			return err
		}
		if bad {
			m.Parts = append(m.Parts, chat.Part{Kind: "text", Text: failed})
		}
	}
	if c := b["content"]; !limits.Absent(c) {
		err = r.blocks(at+".content", c, func(at, kind string, b members) error {
			parts, err := r.parts(at, kind, b)
			m.Parts = append(m.Parts, parts...)
			return err
		})
	}
	r.add(at, m)
	return err
}
