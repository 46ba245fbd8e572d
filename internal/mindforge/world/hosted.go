package world

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"

	"macaron/internal/canonical"
	"macaron/internal/tool"
)

// hosted is a function on the state of one run, as the gate calls it.
type hosted[S any] struct {
	f   Function[S]
	s   S
	run *run[S]
}

// Def implements tool.Tool.
func (h hosted[S]) Def() tool.Def {
	h.run.mu.Lock()
	defer h.run.mu.Unlock()
	properties, required := map[string]any{}, []string{}
	for _, p := range h.f.Params {
		switch {
		case p.Enum != nil:
			properties[p.Name] = map[string]any{"enum": p.Enum(h.s)}
		case p.Number:
			properties[p.Name] = map[string]any{"type": "integer"}
		default:
			properties[p.Name] = map[string]any{"type": "string", "maxLength": maxArgument}
		}
		required = append(required, p.Name)
	}
	schema, err := canonical.Bytes(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
	if err != nil {
		panic(err) // names and lists have a form
	}
	return tool.Def{Name: h.f.Name, Description: h.f.About, Effect: h.f.Effect, Parameters: schema}
}

// Invoke implements tool.Tool.
func (h hosted[S]) Invoke(_ context.Context, c tool.Call) (tool.Result, error) {
	args, err := read(c.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	h.run.mu.Lock()
	defer h.run.mu.Unlock()
	out, err := h.f.call(h.s, args)
	if err != nil {
		return tool.Result{}, err
	}
	h.run.last = out
	return tool.Result{Value: quoted(out)}, nil
}

// read takes texts and whole numbers as texts.
func read(raw json.RawMessage) (map[string]string, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var all map[string]any
	if err := dec.Decode(&all); err != nil {
		return nil, bad("the arguments cannot be read", "give an object")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, bad("there is more than one object of arguments", "")
	}
	out := map[string]string{}
	for name, v := range all {
		switch v := v.(type) {
		case string:
			out[name] = v
		case json.Number:
			out[name] = v.String()
		default:
			return nil, bad("an argument is neither a text nor a number", "")
		}
	}
	return out, nil
}

// quoted is a text as JSON, without the escapes that are for HTML only.
func quoted(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(strings.ToValidUTF8(s, "\uFFFD")) // a text has always a form
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
