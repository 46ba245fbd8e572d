package hf

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
)

// directory writes files and gives their directory.
func directory(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// shard is a safetensors file with one value for each name.
func shard(t testing.TB, names ...string) string {
	t.Helper()
	var tensors []safetensors.Tensor
	for i, name := range names {
		tensors = append(tensors, safetensors.FromFloat32(name, []uint64{1}, []float32{float32(i)}))
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := safetensors.Write(path, tensors, nil); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func indexOf(t testing.TB, files map[string]string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"metadata": map[string]any{"total_size": 1}, "weight_map": files})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestShardsAreFoundThroughTheIndex(t *testing.T) {
	dir := directory(t, map[string]string{"config.json": `{}`, "m-1.safetensors": shard(t, "a", "b"), "m-2.safetensors": shard(t, "c"),
		IndexFile: indexOf(t, map[string]string{"a": "m-1.safetensors", "b": "m-1.safetensors", "c": "m-2.safetensors"})})
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got := strings.Join(d.Names(), " "); got != "a b c" || d.Tensor("c") == nil || d.Tensor("d") != nil || d.Size() != 12 {
		t.Errorf("tensors %s, %d bytes", got, d.Size())
	}
}

func TestHostileDirectories(t *testing.T) {
	one := shard(t, "a")
	for name, c := range map[string]struct {
		files map[string]string
		code  errs.Code
		says  string
	}{
		"no config":        {map[string]string{WeightFile: one}, errs.NotFound, "config.json"},
		"no weights":       {map[string]string{ConfigFile: `{}`, "pytorch_model.bin": "x"}, errs.FormatInvalid, "neither"},
		"broken weights":   {map[string]string{ConfigFile: `{}`, WeightFile: one[:9]}, errs.FormatInvalid, "safetensors"},
		"array":            {map[string]string{ConfigFile: `[]`, WeightFile: one}, errs.FormatInvalid, "object"},
		"null":             {map[string]string{ConfigFile: `null`, WeightFile: one}, errs.FormatInvalid, "object"},
		"field twice":      {map[string]string{ConfigFile: `{"a":1,"a":2}`, WeightFile: one}, errs.FormatInvalid, "twice"},
		"text after":       {map[string]string{ConfigFile: `{} {}`, WeightFile: one}, errs.FormatInvalid, "goes on"},
		"deep":             {map[string]string{ConfigFile: strings.Repeat(`{"a":`, 5000), WeightFile: one}, errs.FormatInvalid, "JSON"},
		"path in index":    {map[string]string{ConfigFile: `{}`, IndexFile: indexOf(t, map[string]string{"a": "../m.safetensors"})}, errs.FormatInvalid, "beside"},
		"absolute":         {map[string]string{ConfigFile: `{}`, IndexFile: indexOf(t, map[string]string{"a": "/m.safetensors"})}, errs.FormatInvalid, "beside"},
		"other ending":     {map[string]string{ConfigFile: `{}`, IndexFile: indexOf(t, map[string]string{"a": "m.bin"})}, errs.FormatInvalid, "beside"},
		"empty index":      {map[string]string{ConfigFile: `{}`, IndexFile: `{"weight_map":{}}`}, errs.FormatInvalid, "weight_map"},
		"index of numbers": {map[string]string{ConfigFile: `{}`, IndexFile: `{"weight_map":{"a":1}}`}, errs.FormatInvalid, "weight_map"},
		"shard absent":     {map[string]string{ConfigFile: `{}`, IndexFile: indexOf(t, map[string]string{"a": "m.safetensors"})}, errs.NotFound, "m.safetensors"},
		"tensor absent":    {map[string]string{ConfigFile: `{}`, "m.safetensors": one, IndexFile: indexOf(t, map[string]string{"a": "m.safetensors", "b": "m.safetensors"})}, errs.FormatInvalid, "does not hold"},
		"tensor unlisted":  {map[string]string{ConfigFile: `{}`, "m.safetensors": shard(t, "a", "b"), IndexFile: indexOf(t, map[string]string{"a": "m.safetensors"})}, errs.FormatInvalid, "not at all"},
		"tensor in two files": {map[string]string{ConfigFile: `{}`, "m.safetensors": one, "n.safetensors": shard(t, "a", "b"),
			IndexFile: indexOf(t, map[string]string{"a": "m.safetensors", "b": "n.safetensors"})}, errs.FormatInvalid, "another file"},
	} {
		d, err := Open(directory(t, c.files))
		if errs.CodeOf(err) != c.code || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s about %q", name, err, c.code, c.says)
		}
		if err == nil {
			d.Close()
		}
	}
}

func TestFieldsHaveTypes(t *testing.T) {
	_, err := ParseConfig("c.json", []byte(`{"n":7,"big":1e400,"f":2.5,"neg":-1,"s":"x","b":true,"nil":null,"l":["a"],"o":{"n":1},"zero":0,"none":{}}`))
	if err == nil {
		t.Fatal("a number beyond every float was read")
	}
	c, err := ParseConfig("c.json", []byte(`{"n":7,"f":2.5,"neg":-1,"s":"x","b":true,"nil":null,"l":["a"],"o":{"n":1},"zero":0,"none":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"text as number": second(c.Uint("s")), "fraction": second(c.Uint("f")), "negative": second(c.Uint("neg")), "missing": second(c.Uint("x")),
		"null": second(c.Uint("nil")), "number as text": second(c.String("n")), "object as list": second(c.Strings("o")), "list as object": second(c.Object("l")),
		"text as truth": second(c.BoolOr("s", false)), "text as float": second(c.FloatOr("s", 1)),
	} {
		if errs.CodeOf(err) != errs.FormatInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n, err := c.UintOr("nil", 9); n != 9 || err != nil || !c.Given("nil") || c.Has("nil") || c.Given("x") {
		t.Errorf("null is not taken as missing: %d, %v", n, err)
	}
	if f, err := c.Float("n"); f != 7 || err != nil {
		t.Errorf("an integer is no number: %g, %v", f, err)
	}
	if !c.Neutral("nil", 0) || !c.Neutral("x", 0) || !c.Neutral("zero", 0) || !c.Neutral("none", 0) || c.Neutral("b", 0) || c.Neutral("n", 1) || !c.Neutral("n", 7) || c.Neutral("s", 0) {
		t.Error("Neutral confuses nothing and something")
	}
}

func second[T any](_ T, err error) error { return err }

func TestDigestCoversWhatIsRead(t *testing.T) {
	files := map[string]string{ConfigFile: `{}`, WeightFile: shard(t, "a"), TokenizerFile: `{}`}
	digest := func(change string, to string) string {
		own := map[string]string{change: to}
		for name, text := range files {
			if name != change {
				own[name] = text
			}
		}
		d, err := Digest(directory(t, own))
		if err != nil {
			t.Fatal(err)
		}
		return string(d)
	}
	plain := digest("README.md", "one")
	if other := digest("README.md", "two"); other != plain {
		t.Error("a file that is not read changes the digest")
	}
	for _, name := range []string{ConfigFile, WeightFile, TokenizerFile, TokenizerConfigFile, GenerationFile, TemplateFile, SpecialsFile} {
		if digest(name, shard(t, "b")) == plain {
			t.Errorf("%s does not change the digest", name)
		}
	}
	// the golden of docs/formats/canonical.md
	const golden = "sha256:403d2ccbab122e4a622a719114acebab9274ce53191e9254248a9e4748d6e8fc"
	got, err := Digest(directory(t, map[string]string{ConfigFile: `{}`, WeightFile: ""}))
	if err != nil || got != golden {
		t.Errorf("%s, %v", got, err)
	}
}

func TestTemplateForms(t *testing.T) {
	for text, want := range map[string]string{`{}`: "", `{"chat_template":null}`: "", `{"chat_template":"x"}`: "x",
		`{"chat_template":[{"name":"tool_use","template":"y"},{"name":"default","template":"z"}]}`: "z"} {
		if got, err := Template(directory(t, map[string]string{TokenizerConfigFile: text})); got != want || err != nil {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	if got, err := Template(directory(t, map[string]string{TokenizerConfigFile: `{"chat_template":"x"}`, TemplateFile: "own"})); got != "own" || err != nil {
		t.Errorf("the file does not come first: %q, %v", got, err)
	}
	for _, text := range []string{`{"chat_template":7}`, `{"chat_template":[{"name":"tool_use","template":"y"}]}`, `{`} {
		if _, err := Template(directory(t, map[string]string{TokenizerConfigFile: text})); errs.CodeOf(err) != errs.FormatInvalid {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzJSON reads any bytes as a configuration and as an index: a value or a coded error.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"model_type":"llama","num_hidden_layers":2,"rope_scaling":{"type":"linear","factor":2.0},"layer_types":["full_attention"]}`))
	f.Add([]byte(`{"weight_map":{"a":"m.safetensors"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := ParseConfig("x", raw)
		for field := range c.fields {
			_, e1 := c.Uint(field)
			_, e2 := c.Float(field)
			_, e3 := c.Ints(field)
			inner, e4 := c.Object(field)
			c.Neutral(field, 1)
			inner.Has("x")
			for _, e := range []error{e1, e2, e3, e4} {
				if e != nil && errs.CodeOf(e) != errs.FormatInvalid {
					t.Fatalf("an error without a code: %v", e)
				}
			}
		}
		ix, ierr := parseIndex(raw)
		for _, file := range ix {
			if !filepath.IsLocal(file) || filepath.Base(file) != file {
				t.Fatalf("the index leads to %q", file)
			}
		}
		for _, e := range []error{err, ierr} {
			if e != nil && errs.CodeOf(e) != errs.FormatInvalid {
				t.Fatalf("an error without a code: %v", e)
			}
		}
	})
}
