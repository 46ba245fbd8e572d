// Package builtin holds the tools that come with the program: files of a workspace, HTTP
// requests to hosts on a list, commands in the sandbox, search over memory. Each checks
// its own arguments and stays inside what it was made with; who may call it is the gate's.
package builtin

import (
	"bytes"
	"context"
	"encoding/json"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

// function is a tool whose arguments are read into an A.
type function[A any] struct {
	def tool.Def
	do  func(ctx context.Context, args A) (any, error)
}

// Def gives the tool's definition.
func (f function[A]) Def() tool.Def { return f.def }

// Invoke reads the arguments, calls and writes the result as JSON.
func (f function[A]) Invoke(ctx context.Context, c tool.Call) (tool.Result, error) {
	var args A
	dec := json.NewDecoder(bytes.NewReader(c.Arguments))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&args); err != nil {
		return tool.Result{}, errs.New(errs.InvalidRequest, "the arguments of "+f.def.Name+" cannot be read: "+errs.Clip(err.Error()), "")
	}
	out, err := f.do(ctx, args)
	if err != nil {
		return tool.Result{}, err
	}
	value, err := encode(out)
	return tool.Result{Value: value}, err
}

func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, errs.Wrap(errs.Internal, err, "a result has no JSON form", "")
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// schema is the text of a JSON Schema of an object.
func schema(properties, required string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`)
}

func bad(message, next string) error { return errs.New(errs.InvalidRequest, message, next) }
