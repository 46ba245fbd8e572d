package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

func toolsField(r *request, field string, raw json.RawMessage) error {
	items, err := limits.List(field, raw, limits.ToolCount)
	if err != nil {
		return err
	}
	for i, item := range items {
		t, err := r.tool(fmt.Sprintf("%s[%d]", field, i), item)
		if err != nil {
			return err
		}
		r.Tools = append(r.Tools, t)
	}
	return nil
}

// tool reads a function that the client runs. Tools whose schema or execution is the
// provider's are refused by name.
func (r *request) tool(field string, raw json.RawMessage) (chat.ToolDef, error) {
	t := chat.ToolDef{}
	members, err := limits.Object(field, raw)
	if err != nil {
		return t, err
	}
	if err := custom(field+".type", members["type"]); err != nil {
		return t, err
	}
	r.unknown(field, members, "type", "name", "description", "input_schema", "strict")
	if t.Name, err = limits.Text(field+".name", members["name"], limits.NameBytes); err != nil {
		return t, err
	}
	if d := members["description"]; !limits.Absent(d) {
		if t.Description, err = limits.Text(field+".description", d, limits.ToolBytes); err != nil {
			return t, err
		}
	}
	schema := members["input_schema"]
	if limits.Absent(schema) {
		return t, errs.New(errs.InvalidRequest, field+".input_schema is missing", "send a JSON Schema, at least {\"type\":\"object\"}").In(field + ".input_schema")
	}
	if _, err := limits.Object(field+".input_schema", schema); err != nil {
		return t, err
	}
	t.Parameters = bytes.Clone(schema)
	if s := members["strict"]; !limits.Absent(s) {
		strict, err := limits.Bool(field+".strict", s)
		t.Strict = &strict
		return t, err
	}
	return t, nil
}

// custom refuses every type of tool but the client's own.
func custom(field string, raw json.RawMessage) error {
	if limits.Absent(raw) {
		return nil
	}
	kind, err := limits.Text(field, raw, limits.NameBytes)
	if err != nil || kind == "custom" {
		return err
	}
	return errs.New(errs.Unsupported, fmt.Sprintf("the tool %q belongs to another provider's servers or models, and is not known here", errs.Clip(kind)),
		"offer a tool of your own, with name and input_schema").In(field)
}

func toolChoice(r *request, field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	r.unknown(field, members, "type", "name", "disable_parallel_tool_use")
	kind, err := chatapi.OneOf(field+".type", members["type"], "auto", "any", "tool", "none")
	if err != nil {
		return err
	}
	r.ToolChoice.Mode = map[string]string{"auto": "auto", "any": "required", "tool": "function", "none": "none"}[kind]
	if kind == "tool" {
		if r.ToolChoice.Name, err = limits.Text(field+".name", members["name"], limits.NameBytes); err != nil {
			return err
		}
	} else if !limits.Absent(members["name"]) {
		r.ignore(field + ".name")
	}
	if one := members["disable_parallel_tool_use"]; !limits.Absent(one) {
		r.ToolChoice.Single, err = limits.Bool(field+".disable_parallel_tool_use", one)
	}
	return err
}
