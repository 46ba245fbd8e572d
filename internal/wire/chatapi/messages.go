package chatapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/limits"
)

// Messages reads a conversation. What its members ask for that nobody here heeds goes to drop.
func Messages(field string, raw json.RawMessage, drop *Ignored) ([]chat.Message, error) {
	items, err := limits.List(field, raw, limits.MessageCount)
	if err != nil {
		return nil, err
	}
	var out []chat.Message
	for i, item := range items {
		m, err := message(fmt.Sprintf("%s[%d]", field, i), item, drop)
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

// said are the members of a message that are read.
var said = []string{"role", "content", "name", "tool_call_id", "reasoning_content", "refusal", "tool_calls"}

// message reads one message. Members that carry no words of the conversation, such
// as an assistant's annotations that come back in a history, are reported; those that
// would, in a form that is not read, are refused.
func message(field string, raw json.RawMessage, drop *Ignored) (chat.Message, error) {
	members, err := limits.Object(field, raw)
	if err != nil {
		return chat.Message{}, err
	}
	for _, old := range []string{"function_call", "audio"} {
		if !limits.Absent(members[old]) {
			return chat.Message{}, errs.New(errs.Unsupported, field+"."+old+" cannot be read here", "send the text, and calls as tool_calls").In(field + "." + old)
		}
	}
	drop.Rest(field, members, said...)
	m := chat.Message{}
	role, err := OneOf(field+".role", members["role"], "system", "developer", "user", "assistant", "tool")
	if err != nil {
		return m, err
	}
	m.Role = roles[role]
	if c := members["content"]; !limits.Absent(c) {
		if m.Parts, err = content(field+".content", c, drop); err != nil {
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
		if m.Parts, err = content(field+".refusal", refusal, drop); err != nil {
			return m, err
		}
	}
	if calls := members["tool_calls"]; !limits.Absent(calls) {
		m.ToolCalls, err = toolCalls(field+".tool_calls", calls, drop)
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
func content(field string, raw json.RawMessage, drop *Ignored) ([]chat.Part, error) {
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
		p, err := part(fmt.Sprintf("%s[%d]", field, i), item, drop)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func part(field string, raw json.RawMessage, drop *Ignored) (chat.Part, error) {
	members, err := limits.Object(field, raw)
	if err != nil {
		return chat.Part{}, err
	}
	kind, err := OneOf(field+".type", members["type"], "text", "refusal", "image_url", "input_audio", "file")
	if err != nil {
		return chat.Part{}, err
	}
	drop.Rest(field, members, "type", kind)
	if kind == "text" || kind == "refusal" {
		s, err := limits.Text(field+"."+kind, members[kind], limits.TextBytes)
		return chat.Part{Kind: "text", Text: s}, err
	}
	at := field + "." + kind
	inner, err := limits.Object(at, members[kind])
	if err != nil {
		return chat.Part{}, err
	}
	switch kind {
	case "image_url":
		return imagePart(at, inner, drop)
	case "input_audio":
		return audioPart(at, inner, drop)
	}
	drop.Rest(at, inner, "file_data", "filename", "file_id")
	return FilePart(at, inner)
}

func imagePart(at string, members map[string]json.RawMessage, drop *Ignored) (chat.Part, error) {
	drop.Rest(at, members, "url", "detail")
	url, err := limits.Text(at+".url", members["url"], limits.TextBytes)
	if err == nil {
		err = limits.Address(at+".url", url)
	}
	if err != nil {
		return chat.Part{}, err
	}
	detail, err := Optional(at+".detail", members["detail"], limits.NameBytes)
	return Image(url, detail), err
}

func audioPart(at string, members map[string]json.RawMessage, drop *Ignored) (chat.Part, error) {
	drop.Rest(at, members, "data", "format")
	format, err := OneOf(at+".format", members["format"], "wav", "mp3")
	if err != nil {
		return chat.Part{}, err
	}
	data, err := limits.Text(at+".data", members["data"], limits.TextBytes)
	return audio(format, data), err
}

// FilePart reads a file by its bytes. One that lies in a store of files is refused: there is
// none here, and the engine's is not the client's.
func FilePart(at string, members map[string]json.RawMessage) (chat.Part, error) {
	if !limits.Absent(members["file_id"]) {
		return chat.Part{}, errs.New(errs.Unsupported, "there is no store of files", "send the file itself in file_data").In(at + ".file_id")
	}
	if limits.Absent(members["file_data"]) {
		return chat.Part{}, errs.New(errs.InvalidRequest, at+" has no file_data", "send the file itself").In(at + ".file_data")
	}
	data, err := limits.Text(at+".file_data", members["file_data"], limits.TextBytes)
	if err == nil && !strings.HasPrefix(data, "data:") {
		err = errs.New(errs.InvalidRequest, at+".file_data is no data: URL", "send data:application/pdf;base64,... with the type of the file").In(at + ".file_data")
	}
	if err != nil {
		return chat.Part{}, err
	}
	name, err := Optional(at+".filename", members["filename"], limits.NameBytes)
	return File(name, data), err
}

func toolCalls(field string, raw json.RawMessage, drop *Ignored) ([]chat.ToolCall, error) {
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
		drop.Rest(at, members, "id", "type", "function", "index")
		c := chat.ToolCall{}
		if c.ID, err = limits.Text(at+".id", members["id"], limits.NameBytes); err != nil {
			return nil, err
		}
		function, err := limits.Object(at+".function", members["function"])
		if err != nil {
			return nil, err
		}
		drop.Rest(at+".function", function, "name", "arguments")
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
func Tools(field string, raw json.RawMessage, drop *Ignored) ([]chat.ToolDef, error) {
	items, err := limits.List(field, raw, limits.ToolCount)
	if err != nil {
		return nil, err
	}
	var out []chat.ToolDef
	for i, item := range items {
		t, err := tool(fmt.Sprintf("%s[%d]", field, i), item, drop)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func tool(field string, raw json.RawMessage, drop *Ignored) (chat.ToolDef, error) {
	members, err := limits.Object(field, raw)
	if err != nil {
		return chat.ToolDef{}, err
	}
	if _, err = OneOf(field+".type", members["type"], "function"); err != nil {
		return chat.ToolDef{}, err
	}
	drop.Rest(field, members, "type", "function")
	at := field + ".function"
	function, err := limits.Object(at, members["function"])
	if err != nil {
		return chat.ToolDef{}, err
	}
	drop.Rest(at, function, "name", "description", "parameters", "strict")
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
