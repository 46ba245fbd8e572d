package vllm

import (
	"encoding/json"
	"fmt"
	"slices"

	"macaron/internal/backend"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

// language is what one field asks the answer to be: one of the choices, or a text of the
// constraint.
type language struct {
	field   string
	llama   bool // a field of llama-server's
	choices []string
	backend.Constraint
}

// The bounds of a constraint.
const (
	maxLabels  = 1024
	labelBytes = 4096
)

func (l language) same(m language) bool {
	return l.Constraint == m.Constraint && slices.Equal(l.choices, m.choices)
}

// constrain settles on one language. Clients for servers of several kinds send the same
// wish in several fields: equal ones count once, and vLLM's go before llama-server's, which
// vLLM would not read.
func (r *request) constrain() error {
	var chosen *language
	for _, own := range []bool{false, true} {
		for _, l := range r.languages {
			switch {
			case l.llama != own:
			case chosen == nil:
				chosen = &l
			case l.same(*chosen):
			case l.llama:
				r.ignored = append(r.ignored, l.field)
			default:
				return errs.New(errs.InvalidRequest, "You can only use one kind of constraints for structured outputs: "+chosen.field+" and "+l.field+" differ", "send one of them").In(l.field)
			}
		}
	}
	if chosen == nil {
		return nil
	}
	if r.ToolChoice.Mode == "required" || r.ToolChoice.Mode == "function" {
		return errs.New(errs.InvalidRequest, "an answer cannot be a tool call and "+chosen.field+" at once", "leave one of them out").In(chosen.field)
	}
	r.Choices, r.Constraint = chosen.choices, chosen.Constraint
	r.Constraint.Field = chosen.field
	return nil
}

func (r *request) ask(field string, kind backend.ConstraintKind, text string) {
	r.languages = append(r.languages, language{field: field, llama: field == "grammar" || field == "json_schema", Constraint: backend.Constraint{Kind: kind, Text: text}})
}

// responseFormat reads OpenAI's field.
func responseFormat(r *request, field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	kind, err := chatapi.OneOf(field+".type", members["type"], "text", "json_object", "json_schema")
	switch {
	case err != nil:
		return err
	case kind == "json_object" && limits.Absent(members["schema"]):
		r.ask(field, backend.JSONObject, "")
	case kind == "json_object": // as llama-server takes it
		return schema(r, field+".schema", members["schema"])
	case kind == "json_schema":
		inner, err := limits.Object(field+".json_schema", members["json_schema"])
		if err != nil {
			return err
		}
		return schema(r, field+".json_schema.schema", inner["schema"])
	}
	return nil
}

// structuredOutputs reads vLLM's field: one of several kinds.
func structuredOutputs(r *request, field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	before := len(r.languages)
	for name, value := range members {
		if limits.Absent(value) {
			continue
		}
		if err := structured(r, name, field+"."+errs.Clip(name), value); err != nil {
			return err
		}
	}
	if n := len(r.languages) - before; n != 1 {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("%s holds %d constraints", field, n), "give one of json, regex, choice, grammar, json_object").In(field)
	}
	return nil
}

func structured(r *request, name, at string, value json.RawMessage) error {
	switch name {
	case "json":
		return schemaField(r, at, value)
	case "regex":
		return regexField(r, at, value)
	case "choice":
		return choiceField(r, at, value)
	case "grammar":
		return grammarField(r, at, value)
	case "json_object":
		yes, err := limits.Bool(at, value)
		if yes {
			r.ask(at, backend.JSONObject, "")
		}
		return err
	case "structural_tag":
		return errs.New(errs.Unsupported, "structural_tag is not supported", "describe the whole answer by grammar").In(at)
	case "disable_fallback", "disable_any_whitespace", "disable_additional_properties":
		return only("JSON is constrained in one way", "false")(r, at, value)
	}
	return only("it is no constraint that is known here; known are json, regex, choice, grammar, json_object")(r, at, value)
}

// schemaField reads a schema, as an object or as its text.
func schemaField(r *request, field string, raw json.RawMessage) error {
	if raw[0] == '"' {
		text, err := limits.Text(field, raw, limits.SchemaBytes)
		if err != nil {
			return err
		}
		return schema(r, field, json.RawMessage(text))
	}
	return schema(r, field, raw)
}

func schema(r *request, field string, raw json.RawMessage) error {
	if len(raw) > limits.SchemaBytes {
		return errs.Newf(errs.TooLarge, "%s is larger than %d bytes", field, limits.SchemaBytes).In(field)
	}
	if text := string(raw); text != "true" && text != "false" {
		if _, err := limits.Object(field, raw); err != nil {
			return err
		}
	}
	r.ask(field, backend.JSONSchema, string(raw))
	return nil
}

func regexField(r *request, field string, raw json.RawMessage) error {
	text, err := limits.Text(field, raw, limits.SchemaBytes)
	r.ask(field, backend.Regex, text)
	return err
}

func grammarField(r *request, field string, raw json.RawMessage) error {
	text, err := limits.Text(field, raw, limits.SchemaBytes)
	if err == nil && text != "" { // llama-server's clients send an empty one for none
		r.ask(field, backend.Grammar, text)
	}
	return err
}

func choiceField(r *request, field string, raw json.RawMessage) error {
	items, err := limits.List(field, raw, maxLabels)
	if err != nil {
		return err
	}
	l := language{field: field}
	for i, item := range items {
		text, err := limits.Text(fmt.Sprintf("%s[%d]", field, i), item, labelBytes)
		if err != nil {
			return err
		}
		if text == "" || slices.Contains(l.choices, text) {
			return errs.New(errs.InvalidRequest, fmt.Sprintf("%s[%d] is empty or there twice", field, i), "give different texts").In(field)
		}
		l.choices = append(l.choices, text)
	}
	if len(l.choices) == 0 {
		return errs.New(errs.InvalidRequest, field+" is empty", "give at least one").In(field)
	}
	r.languages = append(r.languages, l)
	return nil
}
