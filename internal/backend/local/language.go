package local

import (
	"encoding/json"
	"slices"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/engine/grammar"
	"macaron/internal/errs"
)

// toolCalls is the constraint of an answer that has to be calls; its Text is an offer.
const toolCalls backend.ConstraintKind = "tools"

// offer is what can be called.
type offer struct {
	Tools  []chat.ToolDef
	Single bool
	Free   bool // text may come before calls, or in their place
}

// language is what the answer must be in: calls where they are required; text or calls
// where a tool's strictness must be kept to; else the request's constraint or its
// response format.
func language(r *backend.Request) (backend.Constraint, error) {
	c, err := formatted(r)
	if err != nil || !heldCalls(r) {
		return c, err
	}
	if c.Kind != backend.AnyText {
		if !mustCall(r) {
			return c, nil // a format leaves no room for calls
		}
		return c, errs.New(errs.InvalidRequest, "an answer cannot be a tool call and of a format at once", "leave one of them out").In("tool_choice")
	}
	text, err := json.Marshal(offer{r.ToolChoice.Callable(r.Tools), r.ToolChoice.Single || r.ToolChoice.Mode == "function", !mustCall(r)})
	return backend.Constraint{Kind: toolCalls, Text: string(text)}, errs.Wrap(errs.InvalidRequest, err, "a tool's parameters are not JSON", "send a JSON Schema")
}

// formatted is the request's own constraint, or that of its response format.
func formatted(r *backend.Request) (backend.Constraint, error) {
	if !r.Sampling.Formatted() || r.Constraint.Kind != backend.AnyText {
		return r.Constraint, nil
	}
	const field = "response_format"
	var f struct {
		Type       backend.ConstraintKind `json:"type"`
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	}
	err := json.Unmarshal(r.Sampling.ResponseFormat, &f)
	switch {
	case err == nil && f.Type == backend.JSONObject:
		return backend.Constraint{Kind: f.Type, Field: field}, nil
	case err == nil && f.Type == backend.JSONSchema && len(f.JSONSchema.Schema) > 0:
		return backend.Constraint{Kind: f.Type, Text: string(f.JSONSchema.Schema), Field: field}, nil
	}
	return backend.Constraint{}, errs.New(errs.InvalidRequest, "response_format is not read", "give text, json_object, or json_schema with a json_schema.schema").In(field)
}

// mustCall tells whether the answer has to be a call.
func mustCall(r *backend.Request) bool {
	return (r.ToolChoice.Mode == "function" || r.ToolChoice.Mode == "required") && len(r.ToolChoice.Callable(r.Tools)) > 0
}

// heldCalls tells whether a grammar keeps the calls of the answer to their form: where the
// answer has to be a call, and where one of the tools is strict.
func heldCalls(r *backend.Request) bool {
	return mustCall(r) || slices.ContainsFunc(r.ToolChoice.Callable(r.Tools), strict)
}

func strict(t chat.ToolDef) bool { return t.Strict != nil && *t.Strict }

// compileCalls keeps calls to the tools of an offer and to their schemas; arguments that
// are not declared are not made up. Where a schema
// is not supported and the tool is not strict, its arguments are any object, as servers
// without grammars have it.
func compileCalls(v *grammar.Vocab, text string) (*grammar.Grammar, error) {
	var o offer
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return nil, errs.Wrap(errs.InvalidRequest, err, "the tools are not read", "send JSON Schemas")
	}
	layout := grammar.Layout{Open: callName, Middle: callArguments, Close: callEnd, Between: "\n", Trigger: callOpen}
	options := grammar.ToolOptions{Mode: grammar.Required, Parallel: !o.Single, Schema: grammar.SchemaOptions{Closed: true}}
	if o.Free {
		options.Mode = grammar.Auto
	}
	tools := make([]grammar.Tool, len(o.Tools))
	for i, t := range o.Tools {
		tools[i] = grammar.Tool{Name: t.Name, Parameters: t.Parameters}
		if strict(t) {
			continue
		}
		if _, err := v.Tools(tools[i:i+1], layout, options); err != nil {
			tools[i].Parameters = nil
		}
	}
	return v.Tools(tools, layout, options)
}
