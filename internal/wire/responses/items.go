package responses

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

// entry is one item of an input: a message, or the reference to an item that an earlier
// response put out.
type entry struct {
	chat.Message
	reference string
	field     string
	joins     bool // an assistant's: it may be one message with the item before it
}

func indexed(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// inputField reads a text, which is a user's, or a list of items.
func inputField(r *request, field string, raw json.RawMessage) (err error) {
	r.input, err = input(field, raw, &r.ignored)
	return err
}

func input(field string, raw json.RawMessage, drop *chatapi.Ignored) ([]entry, error) {
	if raw[0] == '"' {
		s, err := limits.Text(field, raw, limits.TextBytes)
		return []entry{{Message: chat.Text(chat.User, s)}}, err
	}
	items, err := limits.List(field, raw, limits.MessageCount)
	if err != nil {
		return nil, err
	}
	var out []entry
	for i, item := range items {
		e := entry{field: indexed(field, i)}
		members, err := limits.Object(e.field, item)
		if err != nil {
			return nil, err
		}
		if err := e.read(members, drop); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// itemMembers are the members of each type of item that are read, and those that an output
// item brings back of itself.
var itemMembers = map[string][]string{
	"message":              {"type", "id", "status", "role", "content"},
	"function_call":        {"type", "id", "status", "call_id", "name", "arguments"},
	"function_call_output": {"type", "id", "status", "call_id", "output"},
	"reasoning":            {"type", "id", "status", "content", "summary"},
	"item_reference":       {"type", "id"},
}

// read takes an item; one without type is a message.
func (e *entry) read(members map[string]json.RawMessage, drop *chatapi.Ignored) error {
	kind := "message"
	if t := members["type"]; !limits.Absent(t) {
		var err error
		if kind, err = limits.Text(e.field+".type", t, limits.NameBytes); err != nil {
			return err
		}
	}
	if known, ok := itemMembers[kind]; ok {
		drop.Rest(e.field, members, known...)
	}
	switch kind {
	case "message":
		return e.message(members, drop)
	case "function_call":
		return e.call(members)
	case "function_call_output":
		return e.result(members, drop)
	case "reasoning":
		return e.reasoning(members)
	case "item_reference":
		var err error
		e.reference, err = limits.Text(e.field+".id", members["id"], limits.NameBytes)
		return err
	}
	return errs.New(errs.Unsupported, "items of the type \""+errs.Clip(kind)+"\" are not taken",
		"there are message, function_call, function_call_output, reasoning and item_reference").In(e.field + ".type")
}

var roles = map[string]chat.Role{"system": chat.System, "developer": chat.System, "user": chat.User, "assistant": chat.Assistant}

func (e *entry) message(members map[string]json.RawMessage, drop *chatapi.Ignored) error {
	role, err := chatapi.OneOf(e.field+".role", members["role"], "user", "assistant", "system", "developer")
	if err != nil {
		return err
	}
	e.Role = roles[role]
	if limits.Absent(members["content"]) {
		return errs.New(errs.InvalidRequest, e.field+" has no content", "send a text or a list of parts").In(e.field + ".content")
	}
	e.Parts, err = content(e.field+".content", members["content"], drop)
	return err
}

func (e *entry) call(members map[string]json.RawMessage) (err error) {
	e.Role, e.joins = chat.Assistant, true
	c := chat.ToolCall{}
	if c.ID, err = limits.Text(e.field+".call_id", members["call_id"], limits.NameBytes); err != nil {
		return err
	}
	if c.Name, err = limits.Text(e.field+".name", members["name"], limits.NameBytes); err != nil {
		return err
	}
	c.Arguments, err = chatapi.Arguments(e.field+".arguments", members["arguments"])
	e.ToolCalls = []chat.ToolCall{c}
	return err
}

func (e *entry) result(members map[string]json.RawMessage, drop *chatapi.Ignored) (err error) {
	e.Role = chat.Tool
	if e.ToolCallID, err = limits.Text(e.field+".call_id", members["call_id"], limits.NameBytes); err != nil {
		return err
	}
	if limits.Absent(members["output"]) {
		return errs.New(errs.InvalidRequest, e.field+" has no output", "send what the function returned, \"\" if it was nothing").In(e.field + ".output")
	}
	e.Parts, err = content(e.field+".output", members["output"], drop)
	return err
}

// reasoning reads the reasoning that comes back in a history, or its summary.
func (e *entry) reasoning(members map[string]json.RawMessage) error {
	e.Role, e.joins = chat.Assistant, true
	for _, from := range []string{"content", "summary"} {
		if limits.Absent(members[from]) || e.Reasoning != "" {
			continue
		}
		items, err := limits.List(e.field+"."+from, members[from], limits.PartCount)
		if err != nil {
			return err
		}
		var texts []string
		for i, item := range items {
			at := indexed(e.field+"."+from, i)
			members, err := limits.Object(at, item)
			if err != nil {
				return err
			}
			s, err := limits.Text(at+".text", members["text"], limits.TextBytes)
			if err != nil {
				return err
			}
			texts = append(texts, s)
		}
		e.Reasoning = strings.Join(texts, "\n")
	}
	return nil
}

// content reads a text or a list of parts.
func content(field string, raw json.RawMessage, drop *chatapi.Ignored) ([]chat.Part, error) {
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
		p, err := part(indexed(field, i), item, drop)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// partMembers are those of each part that are read; annotations and log probabilities come
// back with the text that they are of.
var partMembers = map[string][]string{
	"input_text":  {"type", "text"},
	"output_text": {"type", "text", "annotations", "logprobs"},
	"refusal":     {"type", "refusal"},
	"input_image": {"type", "image_url", "detail", "file_id"},
	"input_file":  {"type", "file_data", "filename", "file_id", "file_url"},
}

func part(field string, raw json.RawMessage, drop *chatapi.Ignored) (chat.Part, error) {
	members, err := limits.Object(field, raw)
	if err != nil {
		return chat.Part{}, err
	}
	kind, err := chatapi.OneOf(field+".type", members["type"], "input_text", "output_text", "refusal", "input_image", "input_file")
	if err != nil {
		return chat.Part{}, err
	}
	drop.Rest(field, members, partMembers[kind]...)
	switch kind {
	case "input_image":
		return image(field, members)
	case "input_file":
		return file(field, members)
	}
	member := "text"
	if kind == "refusal" {
		member = kind
	}
	s, err := limits.Text(field+"."+member, members[member], limits.TextBytes)
	return chat.Part{Kind: "text", Text: s}, err
}

// image and file are kept as engines take them, in the form of Chat Completions.
func image(field string, members map[string]json.RawMessage) (chat.Part, error) {
	if err := noStore(field, members); err != nil {
		return chat.Part{}, err
	}
	url, err := limits.Text(field+".image_url", members["image_url"], limits.TextBytes)
	if err == nil {
		err = limits.Address(field+".image_url", url)
	}
	if err != nil {
		return chat.Part{}, err
	}
	detail, err := chatapi.Optional(field+".detail", members["detail"], limits.NameBytes)
	return chatapi.Image(url, detail), err
}

func file(field string, members map[string]json.RawMessage) (chat.Part, error) {
	if err := noStore(field, members); err != nil {
		return chat.Part{}, err
	}
	return chatapi.FilePart(field, members)
}

// noStore refuses what would have to be fetched from somewhere.
func noStore(field string, members map[string]json.RawMessage) error {
	for _, name := range []string{"file_id", "file_url"} {
		if !limits.Absent(members[name]) {
			return errs.New(errs.Unsupported, "there is no store of files, and none is fetched", "send the data itself").In(field + "." + name)
		}
	}
	return nil
}

// joined makes messages of items: what an assistant thought, said and called in one go is
// one message, as it was when it was served.
func joined(items []entry) []chat.Message {
	var out []chat.Message
	var thought string
	for _, e := range items {
		m := e.Message
		n := len(out) - 1
		switch {
		case m.Role == chat.Assistant && m.Reasoning != "" && len(m.Parts) == 0 && len(m.ToolCalls) == 0:
			thought = m.Reasoning // of the message that follows
			continue
		case m.Role == chat.Assistant && thought != "":
			m.Reasoning, thought = thought, ""
		case e.joins && n >= 0 && out[n].Role == chat.Assistant:
			out[n].ToolCalls = slices.Concat(out[n].ToolCalls, m.ToolCalls)
			continue
		case m.Role != chat.Assistant:
			thought = ""
		}
		if len(m.ToolCalls) > 0 && len(m.Parts) == 0 || m.Role != chat.Assistant || len(m.Parts) > 0 {
			out = append(out, m)
		}
	}
	return out
}
