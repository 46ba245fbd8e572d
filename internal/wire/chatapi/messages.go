package chatapi

import (
	"bytes"
	"encoding/json"
	"fmt"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/limits"
)

// Messages reads a conversation.
func Messages(field string, raw json.RawMessage) ([]chat.Message, error) {
	items, err := limits.List(field, raw, limits.MessageCount)
	if err != nil {
		return nil, err
	}
	var out []chat.Message
	for i, item := range items {
		m, err := message(fmt.Sprintf("%s[%d]", field, i), item)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

var roles = map[string]chat.Role{
	"system": chat.System, "developer": chat.System, "user": chat.User, "assistant": chat.Assistant, "tool": chat.Tool,
}

// message reads one message. Fields that carry no words of the conversation, such
// as an assistant's annotations that come back in a history, are left out.
func message(field string, raw json.RawMessage) (chat.Message, error) {
	members, err := limits.Object(field, raw)
	if err != nil {
		return chat.Message{}, err
	}
	m := chat.Message{}
	role, err := OneOf(field+".role", members["role"], "system", "developer", "user", "assistant", "tool")
	if err != nil {
		return m, err
	}
	m.Role = roles[role]
	if c := members["content"]; !limits.Absent(c) {
		if m.Parts, err = content(field+".content", c); err != nil {
			return m, err
		}
	}
	if m.Name, err = Optional(field+".name", members["name"], limits.NameBytes); err != nil {
		return m, err
	}
	if m.ToolCallID, err = Optional(field+".tool_call_id", members["tool_call_id"], limits.NameBytes); err != nil {
		return m, err
	}
	if m.Reasoning, err = Optional(field+".reasoning_content", members["reasoning_content"], limits.TextBytes); err != nil {
		return m, err
	}
	if refusal := members["refusal"]; !limits.Absent(refusal) && len(m.Parts) == 0 {
		if m.Parts, err = content(field+".refusal", refusal); err != nil {
			return m, err
		}
	}
	if calls := members["tool_calls"]; !limits.Absent(calls) {
		m.ToolCalls, err = toolCalls(field+".tool_calls", calls)
	}
	return m, err
}

// Optional reads a text that may be absent.
func Optional(field string, raw json.RawMessage, most int) (string, error) {
	if limits.Absent(raw) {
		return "", nil
	}
	return limits.Text(field, raw, most)
}

// content reads a string or a list of parts.
func content(field string, raw json.RawMessage) ([]chat.Part, error) {
	if raw[0] != '[' {
		s, err := limits.Text(field, raw, limits.TextBytes)
		return []chat.Part{{Kind: "text", Text: s}}, err
	}
	items, err := limits.List(field, raw, limits.PartCount)
	if err != nil {
		return nil, err
	}
	var parts []chat.Part
	for i, item := range items {
		p, err := part(fmt.Sprintf("%s[%d]", field, i), item)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// kinds names the neutral kind of each part that may carry something else than text.
var kinds = map[string]string{"image_url": "image", "input_audio": "audio", "file": "file"}

func part(field string, raw json.RawMessage) (chat.Part, error) {
	members, err := limits.Object(field, raw)
	if err != nil {
		return chat.Part{}, err
	}
	kind, err := OneOf(field+".type", members["type"], "text", "refusal", "image_url", "input_audio", "file")
	if err != nil {
		return chat.Part{}, err
	}
	if neutral, other := kinds[kind]; other {
		return chat.Part{Kind: neutral, Raw: raw}, nil
	}
	s, err := limits.Text(field+"."+kind, members[kind], limits.TextBytes)
	return chat.Part{Kind: "text", Text: s}, err
}

func toolCalls(field string, raw json.RawMessage) ([]chat.ToolCall, error) {
	items, err := limits.List(field, raw, limits.CallCount)
	if err != nil {
		return nil, err
	}
	var calls []chat.ToolCall
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", field, i)
		members, err := limits.Object(at, item)
		if err != nil {
			return nil, err
		}
		c := chat.ToolCall{}
		if c.ID, err = limits.Text(at+".id", members["id"], limits.NameBytes); err != nil {
			return nil, err
		}
		function, err := limits.Object(at+".function", members["function"])
		if err != nil {
			return nil, err
		}
		if c.Name, err = limits.Text(at+".function.name", function["name"], limits.NameBytes); err != nil {
			return nil, err
		}
		if c.Arguments, err = Arguments(at+".function.arguments", function["arguments"]); err != nil {
			return nil, err
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// Arguments reads those of a call. They must be a JSON text: what is replayed malformed would fail in every
// later turn, inside the model's template.
func Arguments(field string, raw json.RawMessage) (string, error) {
	s, err := Optional(field, raw, limits.TextBytes)
	if err != nil || s == "" {
		return s, err
	}
	if !json.Valid([]byte(s)) {
		return "", errs.New(errs.InvalidRequest, field+" is not a JSON text", "send back the arguments as they were received").In(field)
	}
	return s, nil
}

// Tools reads the functions that are offered.
func Tools(field string, raw json.RawMessage) ([]chat.ToolDef, error) {
	items, err := limits.List(field, raw, limits.ToolCount)
	if err != nil {
		return nil, err
	}
	var out []chat.ToolDef
	for i, item := range items {
		t, err := tool(fmt.Sprintf("%s[%d]", field, i), item)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func tool(field string, raw json.RawMessage) (chat.ToolDef, error) {
	members, err := limits.Object(field, raw)
	if err != nil {
		return chat.ToolDef{}, err
	}
	if _, err = OneOf(field+".type", members["type"], "function"); err != nil {
		return chat.ToolDef{}, err
	}
	at := field + ".function"
	function, err := limits.Object(at, members["function"])
	if err != nil {
		return chat.ToolDef{}, err
	}
	return Function(at, function)
}

// Function reads the members of a function that is offered.
func Function(at string, members map[string]json.RawMessage) (t chat.ToolDef, err error) {
	if t.Name, err = limits.Text(at+".name", members["name"], limits.NameBytes); err != nil {
		return t, err
	}
	if t.Description, err = Optional(at+".description", members["description"], limits.ToolBytes); err != nil {
		return t, err
	}
	if p := members["parameters"]; !limits.Absent(p) {
		if _, err = limits.Object(at+".parameters", p); err != nil {
			return t, err
		}
		t.Parameters = bytes.Clone(p)
	}
	if s := members["strict"]; !limits.Absent(s) {
		strict, err := limits.Bool(at+".strict", s)
		if err != nil {
			return t, err
		}
		t.Strict = &strict
	}
	return t, nil
}

// ToolChoice reads "none", "auto", "required" or the object that names a function; c keeps
// whether one call at most is wanted.
func ToolChoice(c *chat.ToolChoice, field string, raw json.RawMessage) (err error) {
	if raw[0] == '"' {
		c.Mode, err = OneOf(field, raw, "none", "auto", "required")
		return err
	}
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	if _, err = OneOf(field+".type", members["type"], "function"); err != nil {
		return err
	}
	function, err := limits.Object(field+".function", members["function"])
	if err != nil {
		return err
	}
	c.Mode = "function"
	c.Name, err = limits.Text(field+".function.name", function["name"], limits.NameBytes)
	return err
}
