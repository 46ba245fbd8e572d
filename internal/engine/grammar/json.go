package grammar

import (
	"macaron/internal/engine/grammar/auto"
	"macaron/internal/engine/grammar/jsonschema"
	"macaron/internal/engine/grammar/rtn"
)

// JSONSchema keeps an answer to the documents that a JSON Schema of draft 2020-12 allows,
// in the order of members that package jsonschema gives them. What is not supported is
// Unsupported and names the place.
func (v *Vocab) JSONSchema(schema []byte, o SchemaOptions) (*Grammar, error) {
	b := &rtn.Builder{}
	r, err := jsonschema.Build(b, schema, auto.NewBudget(autoBudget), o.options())
	if err != nil {
		return nil, err
	}
	return v.compile(b, r)
}

// JSONObject keeps an answer to JSON objects.
func (v *Vocab) JSONObject(o SchemaOptions) (*Grammar, error) {
	return v.JSONSchema([]byte(`{"type":"object"}`), o)
}

func (o SchemaOptions) options() jsonschema.Options {
	return jsonschema.Options{Spaced: o.Spacing == Spaced, FormatAsNote: o.FormatAsNote, Closed: o.Closed}
}
