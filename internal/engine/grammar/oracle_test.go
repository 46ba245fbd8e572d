package grammar

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"macaron/internal/errs"
)

// example is a schema with documents to try.
type example struct {
	schema string
	docs   []string
}

func lines(t testing.TB, path string) (out []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if l := s.Text(); l != "" && l[0] != '#' {
			out = append(out, l)
		}
	}
	return out
}

// examples reads testdata/schemas.txt.
func examples(t testing.TB) (out []example) {
	pool := lines(t, "testdata/pool.txt")
	for _, l := range lines(t, "testdata/schemas.txt") {
		if l[0] == '\t' {
			last := &out[len(out)-1]
			last.docs = append(last.docs, l[1:])
			continue
		}
		out = append(out, example{l, append([]string(nil), pool...)})
	}
	if len(out) < 150 {
		t.Fatalf("only %d schemas", len(out))
	}
	return out
}

// oracle is an independent validator of a schema, nil if it refuses the schema.
func oracle(schema string) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		return nil
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		return nil
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		return nil
	}
	return s
}

func valid(t testing.TB, s *jsonschema.Schema, doc string) bool {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(doc))
	if err != nil {
		return false
	}
	return s.Validate(v) == nil
}

// mustRefuse are parts of the schemas that are refused, by code.
var mustRefuse = map[string]errs.Code{
	`"uniqueItems"`: errs.Unsupported, `"contains"`: errs.Unsupported, `"not"`: errs.Unsupported, `"if"`: errs.Unsupported,
	`"dependentRequired"`: errs.Unsupported, `"unevaluatedProperties"`: errs.Unsupported, `\\bx`: errs.Unsupported, `(?!x)`: errs.Unsupported,
	`(a)\\1`: errs.Unsupported, `{"oneOf":[{"type":"integer"},{"minimum":2}]}`: errs.Unsupported, `{"type":"object","minProperties":2}`: errs.Unsupported,
	`"enum":[]`: errs.InvalidRequest, `"minimum":5,"maximum":4`: errs.InvalidRequest, `{"allOf":[{"type":"string"},{"type":"integer"}]}`: errs.InvalidRequest,
	`{"type":"object","properties":{"a":false},"required":["a"]}`: errs.InvalidRequest,
}

func refusal(schema string) errs.Code {
	for part, code := range mustRefuse {
		if strings.Contains(schema, part) {
			return code
		}
	}
	return ""
}

// TestDocumentsAgreeWithAValidator: for every schema and document, the grammar takes
// one of the document's canonical spellings exactly if the validator calls it valid.
func TestDocumentsAgreeWithAValidator(t *testing.T) {
	v := vocabOf(t, newToy("a"))
	checked := map[bool]int{}
	for _, x := range examples(t) {
		g, err := v.JSONSchema([]byte(x.schema), SchemaOptions{Spacing: Compact})
		if want := refusal(x.schema); errs.CodeOf(err) != want {
			t.Errorf("%s: %v, want %q", x.schema, err, want)
		}
		s := oracle(x.schema)
		if err != nil {
			continue
		}
		if s == nil {
			t.Errorf("%s: the validator refuses it", x.schema)
			continue
		}
		for _, doc := range x.docs {
			want := valid(t, s, doc)
			checked[want]++
			if got := acceptsAny(g, spellings(decode(t, []byte(doc)), 2000)); got != want {
				t.Errorf("%s\n%s: valid is %v, accepted is %v", x.schema, doc, want, got)
			}
		}
	}
	t.Logf("%d valid and %d invalid documents", checked[true], checked[false])
	if checked[true] < 1000 || checked[false] < 5000 {
		t.Errorf("too few documents")
	}
}
