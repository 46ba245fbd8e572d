package contract

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write docs/formats/hcp.schema.json again")

const schemaFile = "../../docs/formats/hcp.schema.json"

// The published schema is what the types say.
func TestPublishedSchema(t *testing.T) {
	want, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(schemaFile); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types say (%v): go test ./internal/contract -update", schemaFile, err)
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("hcp.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("hcp.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// instance is a TOML text as JSON.
func instance(t *testing.T, text string) any {
	t.Helper()
	var m map[string]any
	if err := toml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Every contract in the repository obeys the schema, parts too.
func TestExamplesObeyTheSchema(t *testing.T) {
	s := compiled(t)
	texts := parts(t)
	delete(texts, "skills/tables.md")
	delete(texts, "answered.py")
	for _, p := range []string{"../../macaron.toml", "testdata/contract.toml", "testdata/full.toml", "initial.toml"} {
		b, err := os.ReadFile(filepath.FromSlash(p))
		if err != nil {
			t.Fatal(err)
		}
		texts[p] = string(b)
	}
	for name, text := range texts {
		if err := s.Validate(instance(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Mutants: each value becomes one of another type, one out of bounds, or gets a key beside
// it that is unknown. What the schema takes Parse's rules take, and the other way round.
func TestMutants(t *testing.T) {
	s := compiled(t)
	text := full(t)
	lines := strings.Split(text, "\n")
	n, refused := 0, 0
	for i, line := range lines {
		key, _, ok := strings.Cut(line, " = ")
		if !ok || strings.Contains(key, "properties.") || key == "required" || key == "schema" || strings.HasPrefix(line, "type = ") {
			continue // free schemas of tools; the schema's name is a test of its own
		}
		for _, value := range []string{"-1", "0", "1e12", "2.5", `""`, `"no such"`, "[]", `["a", "a"]`, "true", "{zip = 1}", "[[1]]", `["x y"]`} {
			mutant := strings.Join(lines[:i], "\n") + "\n" + key + " = " + value + "\n" + strings.Join(lines[i+1:], "\n")
			checkMutant(t, s, mutant, key+" = "+value, &refused)
			n++
		}
		mutant := strings.Join(lines[:i], "\n") + "\nzip_zap = 1\n" + strings.Join(lines[i:], "\n")
		checkMutant(t, s, mutant, "zip_zap before "+key, &refused)
	}
	if n < 700 || refused < n/2 {
		t.Errorf("%d mutants, %d refused", n, refused)
	}
}

func checkMutant(t *testing.T, s *jsonschema.Schema, text, what string, refused *int) {
	t.Helper()
	_, _, ours := decode("", []byte(text))
	theirs := s.Validate(instance(t, text))
	if (ours == nil) != (theirs == nil) {
		t.Errorf("%s: Parse says %v, the schema %v", what, ours, theirs)
	}
	if ours != nil {
		*refused++
	}
}

func TestSchemaOfOtherVersions(t *testing.T) {
	s := compiled(t)
	for _, name := range []string{"macaron.hcp/3", "", "hcp"} {
		if err := s.Validate(instance(t, fmt.Sprintf("schema = %q", name))); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}
