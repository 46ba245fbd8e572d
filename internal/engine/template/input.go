package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/errs"
)

// maxJSONDepth bounds the nesting of tool definitions and arguments.
const maxJSONDepth = 64

// extras are the variables that a request may set. Anything else could change
// what the program itself passes.
var extras = map[string]bool{"enable_thinking": true, "thinking": true, "reasoning_effort": true, "preserve_thinking": true,
	"clear_thinking": true, "thinking_budget": true, "date_string": true}

// variables builds what the template sees, and counts its bytes.
func variables(in Input) (vars map[string]value, size int, err error) {
	r := &reader{}
	messages := &list{}
	for i, msg := range in.Messages {
		d, err := r.message(msg)
		if err != nil {
			return nil, 0, errs.Wrap(errs.InvalidRequest, err, fmt.Sprintf("message %d cannot be rendered: %v", i, err), "")
		}
		messages.items = append(messages.items, d)
	}
	tools := &list{}
	for i, tool := range in.Tools {
		d, err := r.tool(tool)
		if err != nil {
			return nil, 0, errs.Wrap(errs.InvalidRequest, err, fmt.Sprintf("tool %d cannot be rendered: %v", i, err), "")
		}
		tools.items = append(tools.items, d)
	}
	vars = map[string]value{"messages": messages, "tools": nil, "documents": nil, "add_generation_prompt": in.AddGenerationPrompt,
		"bos_token": own(in.BOS), "eos_token": own(in.EOS)}
	if len(tools.items) > 0 {
		vars["tools"] = tools
	}
	for _, k := range slices.Sorted(maps.Keys(in.Extra)) {
		v, err := r.extra(k, in.Extra[k])
		if err != nil {
			return nil, 0, err
		}
		vars[k] = v
	}
	return vars, r.size, nil
}

// reader turns the conversation into values and counts its bytes.
type reader struct{ size int }

func (r *reader) text(s string) text {
	r.size += len(s) + 16
	return foreign(s)
}

func (r *reader) extra(name string, v any) (value, error) {
	if !extras[name] {
		return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("the template variable %q may not be set", name),
			"leave it out").In(name)
	}
	switch x := v.(type) {
	case bool:
		return x, nil
	case int:
		return int64(x), nil
	case int64, float64:
		return x, nil
	case string:
		return r.text(x), nil
	}
	return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("the template variable %q must be a boolean, a number or a text", name), "").In(name)
}

// message is the mapping that templates know from the OpenAI API.
func (r *reader) message(msg chat.Message) (*dict, error) {
	d := &dict{}
	if msg.Reasoning != "" {
		d.set(own("thinking"), r.text(msg.Reasoning)) // the older name of reasoning_content
	}
	d.set(own("role"), r.text(string(msg.Role)))
	content, err := r.content(msg)
	if err != nil {
		return nil, err
	}
	d.set(own("content"), content)
	for _, f := range []struct{ k, v string }{{"name", msg.Name}, {"tool_call_id", msg.ToolCallID}, {"reasoning_content", msg.Reasoning}} {
		if f.v != "" {
			d.set(own(f.k), r.text(f.v))
		}
	}
	if len(msg.ToolCalls) > 0 {
		calls := &list{}
		for _, c := range msg.ToolCalls {
			call, err := r.call(c)
			if err != nil {
				return nil, err
			}
			calls.items = append(calls.items, call)
		}
		d.set(own("tool_calls"), calls)
	}
	return d, nil
}

// content is a text when all parts are texts, else the list of parts.
func (r *reader) content(msg chat.Message) (value, error) {
	if !slices.ContainsFunc(msg.Parts, func(p chat.Part) bool { return p.Kind != "text" }) {
		return r.text(msg.Text()), nil
	}
	parts := &list{}
	for _, p := range msg.Parts {
		if p.Kind != "text" && len(p.Raw) > 0 {
			v, err := r.json(p.Raw)
			if err != nil {
				return nil, err
			}
			parts.items = append(parts.items, v)
			continue
		}
		d := &dict{}
		d.set(own("type"), r.text(p.Kind))
		if p.Kind == "text" {
			d.set(own("text"), r.text(p.Text))
		}
		parts.items = append(parts.items, d)
	}
	return parts, nil
}

// call gives arguments that are a JSON object as a mapping, as templates expect,
// and any other text as it stands.
func (r *reader) call(c chat.ToolCall) (*dict, error) {
	fn := &dict{}
	fn.set(own("name"), r.text(c.Name))
	fn.set(own("arguments"), r.text(c.Arguments))
	if strings.HasPrefix(strings.TrimSpace(c.Arguments), "{") {
		v, err := r.json([]byte(c.Arguments))
		var deep tooDeep
		if errors.As(err, &deep) {
			return nil, err
		}
		if err == nil {
			fn.set(own("arguments"), v)
		}
	}
	d := &dict{}
	if c.ID != "" {
		d.set(own("id"), r.text(c.ID))
	}
	d.set(own("type"), own("function"))
	d.set(own("function"), fn)
	return d, nil
}

func (r *reader) tool(t chat.ToolDef) (*dict, error) {
	fn := &dict{}
	fn.set(own("name"), r.text(t.Name))
	if t.Description != "" {
		fn.set(own("description"), r.text(t.Description))
	}
	if len(t.Parameters) > 0 {
		v, err := r.json(t.Parameters)
		if err != nil {
			return nil, err
		}
		fn.set(own("parameters"), v)
	}
	d := &dict{}
	d.set(own("type"), own("function"))
	d.set(own("function"), fn)
	return d, nil
}

// tooDeep is the error of JSON that nests beyond maxJSONDepth.
type tooDeep struct{}

func (tooDeep) Error() string { return fmt.Sprintf("the JSON nests more than %d levels", maxJSONDepth) }

// json reads one JSON value with its keys in order.
func (r *reader) json(raw []byte) (value, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := r.jsonValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the JSON goes on after its value")
	}
	return v, nil
}

func (r *reader) jsonValue(dec *json.Decoder, depth int) (value, error) {
	if depth > maxJSONDepth {
		return nil, tooDeep{}
	}
	t, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("the JSON is malformed: %w", err)
	}
	r.size += 16
	switch x := t.(type) {
	case string:
		return r.text(x), nil
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return n, nil
		}
		f, err := x.Float64()
		return f, err
	case json.Delim:
		if x == '[' {
			return r.jsonList(dec, depth)
		}
		return r.jsonDict(dec, depth)
	}
	return t, nil // true, false, nil
}

func (r *reader) jsonList(dec *json.Decoder, depth int) (value, error) {
	out := &list{}
	for dec.More() {
		v, err := r.jsonValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		out.items = append(out.items, v)
	}
	_, err := dec.Token()
	return out, err
}

func (r *reader) jsonDict(dec *json.Decoder, depth int) (value, error) {
	out := &dict{}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("the JSON is malformed: %w", err)
		}
		v, err := r.jsonValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		out.set(r.text(k.(string)), v)
	}
	_, err := dec.Token()
	return out, err
}

func sortedNames(m map[string]value) []string { return slices.Sorted(maps.Keys(m)) }
