package contract

import (
	"encoding/json"
	"reflect"

	"macaron/internal/errs"
)

// JSONSchema is the JSON Schema (2020-12) of one contract file, TOML read as JSON: for
// editors and other programs. It is made of the types and their rules, and knows of no
// rule between values; what Parse takes, it takes.
func JSONSchema() ([]byte, error) {
	g := generator{defs: map[string]any{}}
	root := g.object(reflect.TypeFor[document]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Harness contract (macaron.hcp/1 and /2)"
	root["required"] = []string{"schema"} // an imported file needs no more
	root["properties"].(map[string]any)["schema"] = map[string]any{"enum": []string{Schema1, Schema}}
	root["$defs"] = g.defs
	b, err := json.MarshalIndent(root, "", "  ")
	return append(b, '\n'), errs.Wrap(errs.Internal, err, "the schema cannot be written", "")
}

type generator struct{ defs map[string]any }

func (g *generator) object(t reflect.Type) map[string]any {
	properties := map[string]any{}
	for _, f := range fieldsOf(t) {
		properties[f.key] = g.value(f.Type, ruleOf(f.StructField))
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

// value is the schema of a field. An overlay may leave out what a contract needs, and an
// import too, so nothing is required here but what names an entry of a list.
func (g *generator) value(t reflect.Type, r rule) map[string]any {
	switch {
	case t == reflect.TypeFor[Object]():
		return map[string]any{"type": []string{"object", "string"}, "pattern": `^\s*\{`}
	case t.Kind() == reflect.Pointer:
		return g.value(t.Elem(), r)
	case t.Kind() == reflect.Struct:
		return g.ref(t)
	case t.Kind() == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": g.value(t.Elem(), rule{}), "propertyNames": map[string]any{"maxLength": maxName}}
	case t.Kind() == reflect.Slice:
		return g.list(t, r)
	case t.Kind() == reflect.String:
		return r.stringSchema()
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	}
	s := map[string]any{"type": "number"}
	if t.Kind() != reflect.Float64 {
		s["type"] = "integer"
	}
	if r.ranged {
		s["minimum"], s["maximum"] = r.low, r.high
	}
	return s
}

func (g *generator) ref(t reflect.Type) map[string]any {
	if _, done := g.defs[t.Name()]; !done {
		g.defs[t.Name()] = nil // for types that hold themselves
		g.defs[t.Name()] = g.object(t)
	}
	return map[string]any{"$ref": "#/$defs/" + t.Name()}
}

func (g *generator) list(t reflect.Type, r rule) map[string]any {
	each := r
	each.counted = false
	s := map[string]any{"type": "array", "items": g.value(t.Elem(), each)}
	if r.counted {
		s["minItems"], s["maxItems"] = r.least, r.most
	}
	if t.Elem().Kind() == reflect.String {
		s["uniqueItems"] = true
		s["items"].(map[string]any)["minLength"] = 1
	}
	return s
}

func (r rule) stringSchema() map[string]any {
	s := map[string]any{"type": "string"}
	switch {
	case r.words != nil:
		s["enum"] = r.words
	case r.form.expr != "":
		s["pattern"] = r.form.expr
	case r.need:
		s["pattern"] = `\S`
	}
	return s
}
