package gate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestSchemasReferToThemselvesOnly(t *testing.T) {
	for _, s := range []string{`{"$ref":"file:///etc/hostname"}`, `{"$ref":"http://127.0.0.1:1/x"}`, `{"$schema":"http://127.0.0.1:1/x"}`, `{"$ref":"other.json"}`, `{"type":"thing"}`, `{"pattern":"("}`, `[]`, `{`} {
		if _, err := compile("s", json.RawMessage(s)); err == nil {
			t.Errorf("%s was taken", s)
		}
	}
	s, err := compile("s", json.RawMessage(`{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"v":{"const":1}}}},"$ref":"#/$defs/n"}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.check(json.RawMessage(`{"next":{"next":{"v":1}}}`)) != nil || s.check(json.RawMessage(`{"next":{"next":{"v":2}}}`)) == nil {
		t.Error("a recursive schema is not followed")
	}
}

// A few lines of schema that would visit 2^40 subschemas.
func TestSchemaBombEnds(t *testing.T) {
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		for _, leaf := range []string{"true", `{"type":"string"}`, `{"type":"object"}`} {
			defs := []string{fmt.Sprintf(`"d40":{"allOf":[%s]}`, leaf)}
			for i := range 40 {
				defs = append(defs, fmt.Sprintf(`"d%d":{"%s":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%[3]d"}]}`, i, keyword, i+1))
			}
			s, err := compile("s", json.RawMessage(`{"$defs":{`+strings.Join(defs, ",")+`},"$ref":"#/$defs/d0"}`))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.check(json.RawMessage(`{}`)); leaf != `true` && keyword == "allOf" && err == nil {
				t.Errorf("%s of %s: no end was put to it", keyword, leaf)
			}
		}
	}
}

func FuzzArguments(f *testing.F) {
	f.Add([]byte(add.Parameters), []byte(`{"a":1,"b":2}`))
	f.Add([]byte(`{"$ref":"#"}`), []byte(`1`))
	f.Add([]byte(`{"$dynamicRef":"#x","$dynamicAnchor":"x"}`), []byte(`[[],{}]`))
	f.Add([]byte(`{"unevaluatedProperties":false,"anyOf":[{"properties":{"a":{}}}]}`), []byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, schema, args []byte) {
		if len(schema) > 4096 || len(args) > 4096 {
			return
		}
		s, err := compile("f", schema)
		if err != nil {
			return
		}
		if err := s.check(args); err == nil && !json.Valid(args) {
			t.Fatalf("%q passed", args)
		} else if err != nil && len(err.Error()) > 4096 {
			t.Fatalf("a message of %d bytes", len(err.Error()))
		}
	})
}
