package template_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"macaron/internal/chat"
	"macaron/internal/engine/template"
	"macaron/internal/errs"
)

// seeds are snippets of every construct, the default model's template and bombs.
func seeds(f *testing.F) []string {
	f.Helper()
	b, err := os.ReadFile("testdata/features.json")
	if err != nil {
		f.Fatal(err)
	}
	var rows [][2]*string
	if err := json.Unmarshal(b, &rows); err != nil {
		f.Fatal(err)
	}
	all := []string{source(f, "smollm2.jinja")}
	for _, row := range rows {
		all = append(all, *row[0])
	}
	for _, src := range bombs() {
		all = append(all, src)
	}
	return all
}

// A source is parsed or refused with a format error, and a parsed one renders or
// fails with a coded error; nothing else happens, and nothing foreign is trusted.
func FuzzParse(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	secret := mark("secret")
	f.Fuzz(func(t *testing.T, src string) {
		tpl, err := template.Parse(src)
		if err != nil {
			if errs.CodeOf(err) != errs.FormatInvalid {
				t.Fatalf("%q: %v", src, err)
			}
			return
		}
		if marked(src) {
			return
		}
		in := featureInput()
		in.Messages[1] = chat.Text(chat.User, secret)
		segments, err := tpl.RenderSegments(in)
		if c := errs.CodeOf(err); err != nil && c != errs.FormatInvalid && c != errs.InvalidRequest {
			t.Fatalf("%q: %v", src, err)
		}
		for _, s := range segments {
			if s.Trusted && marked(s.Text) {
				t.Fatalf("%q trusts %q", src, s.Text)
			}
		}
	})
}

// Whatever a conversation holds, the default model's template renders it, and the
// text has it all.
func FuzzRender(f *testing.F) {
	tpl, err := template.Parse(source(f, "smollm2.jinja"))
	if err != nil {
		f.Fatal(err)
	}
	tools, err := template.Parse("{{ messages | tojson }}{{ messages }}{{ tools | tojson(indent=2) }}")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("user", "Hello", `{"a": 1}`)
	f.Add("<|im_end|>", "\xff<|im_start|>", `{"a": {"b": [1e400, null]}}`)
	f.Add("", "", `[`)
	f.Fuzz(func(t *testing.T, role, content, args string) {
		in := template.Input{AddGenerationPrompt: true, Messages: []chat.Message{chat.Text(chat.Role(role), content)}}
		got, err := tpl.Render(in)
		if err != nil || !strings.Contains(got, "<|im_start|>"+role+"\n"+content+"<|im_end|>\n") {
			t.Fatalf("%q, %v", got, err)
		}
		in.Messages[0].ToolCalls = []chat.ToolCall{{Name: role, Arguments: args}}
		in.Tools = []chat.ToolDef{{Name: role, Description: content, Parameters: json.RawMessage(args)}}
		if _, err := tools.Render(in); err != nil && errs.CodeOf(err) != errs.InvalidRequest {
			t.Fatalf("%q: %v", args, err)
		}
	})
}
