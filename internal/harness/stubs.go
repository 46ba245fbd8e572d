package harness

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/repl"
	"macaron/internal/tool"
)

// stubDefs are the tools that code may call.
func (r *run) stubDefs() []tool.Def {
	var out []tool.Def
	for _, d := range r.gate.Defs() {
		if r.mode() == contract.Hybrid && d.Effect.Changes() {
			continue
		}
		out = append(out, d)
	}
	return out
}

// Stubs are tools as Python functions.
func Stubs(defs []tool.Def) []repl.Stub {
	var out []repl.Stub
	for _, d := range defs {
		s := repl.Stub{Name: d.Name, Doc: d.Description}
		for _, p := range parameters(d) {
			s.Params = append(s.Params, p.name)
		}
		out = append(out, s)
	}
	return out
}

// signatures are those functions as the model reads them.
func signatures(defs []tool.Def) []string {
	var out []string
	for _, d := range defs {
		var params []string
		for _, p := range parameters(d) {
			text := p.name
			if p.kind != "" {
				text += ": " + p.kind
			}
			if !p.required {
				text += " = None"
			}
			params = append(params, text)
		}
		out = append(out, d.Name+"("+strings.Join(params, ", ")+")  # "+strings.Join(strings.Fields(d.Description), " "))
	}
	return out
}

// parameter is one of a tool's.
type parameter struct {
	name, kind string
	required   bool
}

// kinds are JSON's types in Python's words.
var kinds = map[string]string{"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}

// parameters lists a tool's, as its schema has them, those that are needed first.
func parameters(d tool.Def) []parameter {
	var schema struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(d.Schema(), &schema) != nil || len(schema.Properties) == 0 {
		return nil
	}
	var needed, others []parameter
	dec := json.NewDecoder(bytes.NewReader(schema.Properties))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		key, err := dec.Token()
		name, _ := key.(string)
		var p struct {
			Type any `json:"type"`
		}
		var raw json.RawMessage
		if err != nil || dec.Decode(&raw) != nil {
			return nil
		}
		_ = json.Unmarshal(raw, &p) // true and false are schemas too
		kind, _ := p.Type.(string)
		one := parameter{name, kinds[kind], slices.Contains(schema.Required, name)}
		if one.required {
			needed = append(needed, one)
		} else {
			others = append(others, one)
		}
	}
	return append(needed, others...)
}
