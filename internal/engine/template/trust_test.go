package template_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"macaron/internal/chat"
	"macaron/internal/engine/template"
	"macaron/internal/engine/token"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/testmodel"
	"macaron/internal/testvectors"
)

// mark makes a text that no template contains: it is spelled in letters of a
// private-use block, each standing for a byte.
func mark(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(0xe000 + rune(s[i]))
	}
	return b.String()
}

func marked(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= 0xe000 && r < 0xe100 })
}

// markInput spells everything that people wrote in marks.
func markInput(in template.Input) template.Input {
	msgs := in.Messages
	in.Messages = nil
	for _, m := range msgs {
		c := chat.Text(m.Role, mark(m.Text()))
		c.Reasoning, c.ToolCallID = mark(m.Reasoning), m.ToolCallID // some templates demand well-formed ids
		for _, call := range m.ToolCalls {
			c.ToolCalls = append(c.ToolCalls, chat.ToolCall{ID: call.ID, Name: mark(call.Name), Arguments: `{"` + mark("k") + `": "` + mark("v") + `"}`})
		}
		in.Messages = append(in.Messages, c)
	}
	tools := in.Tools
	in.Tools = nil
	for _, d := range tools {
		schema := json.RawMessage(`{"type": "object", "properties": {"` + mark("p") + `": {"type": "string", "description": "` + mark("d") + `", "enum": ["` + mark("e") + `"]}}}`)
		in.Tools = append(in.Tools, chat.ToolDef{Name: mark(d.Name), Description: mark(d.Description), Parameters: schema})
	}
	return in
}

func templates(t testing.TB) map[string]*template.Template {
	t.Helper()
	all := map[string]*template.Template{}
	for _, f := range append(testvectors.Files(), testvectors.File{Path: "smollm2.jinja"}) {
		if !strings.HasSuffix(f.Name(), ".jinja") {
			continue
		}
		tpl, err := template.Parse(source(t, f.Name()))
		if err != nil {
			t.Fatalf("%s: %v", f.Name(), err)
		}
		all[f.Name()] = tpl
	}
	return all
}

// tokenLike is how most models write their control tokens.
var tokenLike = regexp.MustCompile(`<\|[a-z_]+\|>|<｜[^｜]+｜>|</?s>|\[/?INST\]`)

// In every published template, no byte of the conversation is ever trusted, and no
// control token of the template's own ever loses its trust.
func TestTrustInEveryTemplate(t *testing.T) {
	inputs := cases(t)
	delete(inputs, "injection")
	segments, tokens := 0, 0
	for name, tpl := range templates(t) {
		for cname, in := range inputs {
			out, err := tpl.RenderSegments(markInput(in))
			if err != nil {
				continue // TestGoldens knows which templates refuse what
			}
			trusted := true
			for i, s := range out {
				segments++
				if s.Text == "" || i > 0 && s.Trusted == trusted {
					t.Fatalf("%s on %s: segment %d is empty or like the one before", name, cname, i)
				}
				trusted = s.Trusted
				if s.Trusted && marked(s.Text) {
					t.Errorf("%s on %s trusts %q", name, cname, s.Text)
				}
				if found := tokenLike.FindString(s.Text); found != "" {
					tokens++
					if !s.Trusted {
						t.Errorf("%s on %s does not trust its own %q", name, cname, found)
					}
				}
			}
		}
	}
	if segments < 5000 || tokens < 2000 {
		t.Errorf("only %d segments with %d control tokens were seen", segments, tokens)
	}
}

func TestSegmentsJoinToTheText(t *testing.T) {
	for name, tpl := range templates(t) {
		for cname, in := range cases(t) {
			text, err1 := tpl.Render(in)
			segments, err2 := tpl.RenderSegments(in)
			var b strings.Builder
			for _, s := range segments {
				b.WriteString(s.Text)
			}
			if b.String() != text || (err1 == nil) != (err2 == nil) {
				t.Errorf("%s on %s: the segments are not the text", name, cname)
			}
		}
	}
}

// Every operation on a text keeps its bytes' trust.
func TestTrustThroughOperations(t *testing.T) {
	in := template.Input{Messages: []chat.Message{chat.Text(chat.User, "ab cd")}}
	const head = "{% set c = messages[0].content %}"
	for src, want := range map[string]string{
		"<x>{{ c }}<y>":                                      "<x>|ab cd|<y>",
		"{{ '<' ~ c ~ '>' }}":                                "<|ab cd|>",
		"{{ ('<' + c + '>')[1:-1] }}":                        "|ab cd|",
		"{{ ('<' + c + '>')[0:3] }}":                         "<|ab|",
		"{{ ('<' + c + '>').split(' ') | join('+') }}":       "<|ab|+|cd|>",
		"{{ '<a>'.replace('a', c) }}":                        "<|ab cd|>",
		"{{ c.replace('b', '<b>') }}":                        "|a|<b>| cd|",
		"{{ '<%s>' % c }}":                                   "<|ab cd|>",
		"{{ '<{}>'.format(c) }}":                             "<|ab cd|>",
		"{{ {'<k>': c} }}":                                   "{'<k>': '|ab cd|'}",
		"{{ {'k': c} | tojson }}":                            `{"k": "|ab cd|"}`,
		"{{ [c] | join }}":                                   "|ab cd|",
		"{{ c | upper }}":                                    "|AB CD|",
		"{{ '<x>' | upper }}":                                "<X>",
		"{{ (c ~ '<x>') | upper }}":                          "|AB CD<X>|",
		"{{ c | indent(2, true) }}":                          "  |ab cd|",
		"{{ c | trim }}{{ c.strip('a') }}":                   "|ab cdb cd|",
		"{{ c[::-1] }}":                                      "|dc ba|",
		"{{ c | list | join('-') }}":                         "|a|-|b|-| |-|c|-|d|",
		"{{ c * 2 }}":                                        "|ab cdab cd|",
		"{% macro f(x) %}<{{ x }}>{% endmacro %}{{ f(c) }}":  "<|ab cd|>",
		"{% set s %}<{{ c }}>{% endset %}{{ s }}":            "<|ab cd|>",
		"{% filter trim %} {{ c }} {% endfilter %}":          "|ab cd|",
		"{% for x in c %}{{ x }}.{% endfor %}":               "|a|.|b|.| |.|c|.|d|.",
		"{{ c | default('x') }}{{ nothing | default('x') }}": "|ab cd|x",
		"{{ messages[0].role }}":                             "|user|",
		"{{ 'x' if c == 'ab cd' else 'y' }}":                 "x",
		"{{ c | length }}":                                   "5",
		"{{ bos_token }}":                                    "",
	} {
		tpl, err := template.Parse(head + src)
		if err != nil {
			t.Fatal(err)
		}
		segments, err := tpl.RenderSegments(in)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, s := range segments {
			if s.Trusted {
				got.WriteString(s.Text)
			} else {
				got.WriteString("|" + s.Text + "|")
			}
		}
		if got.String() != want {
			t.Errorf("%s: %s, want %s", src, got.String(), want)
		}
	}
}

// defaultModel opens the default model's tokenizer and template.
func defaultModel(t *testing.T) (*token.Tokenizer, *template.Template) {
	t.Helper()
	f, err := gguf.Open(testmodel.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tok, err := token.FromGGUF(f.Meta)
	if err != nil {
		t.Fatal(err)
	}
	src, err := f.Meta.String("tokenizer.chat_template")
	if err != nil {
		t.Fatal(err)
	}
	if src != source(t, "smollm2.jinja") {
		t.Error("testdata/smollm2.jinja is not the default model's template")
	}
	tpl, err := template.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	return tok, tpl
}

// Where no message imitates a control token, the segments encode to what training
// saw: the tokens of the whole text.
func TestSegmentsEncodeLikeTheWholeText(t *testing.T) {
	tok, tpl := defaultModel(t)
	rapid.Check(t, func(t *rapid.T) {
		in := template.Input{AddGenerationPrompt: rapid.Bool().Draw(t, "prompt")}
		for range rapid.IntRange(1, 4).Draw(t, "messages") {
			in.Messages = append(in.Messages, chat.Text(rapid.SampledFrom([]chat.Role{chat.User, chat.Assistant, chat.System}).Draw(t, "role"),
				strings.ReplaceAll(rapid.OneOf(rapid.String(), rapid.StringMatching(`[ \n\r\t0-9a-z'.]{0,20}`)).Draw(t, "content"), "<", "")))
		}
		text, err := tpl.Render(in)
		if err != nil {
			t.Fatal(err)
		}
		segments, err := tpl.RenderSegments(in)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := tok.EncodeSegments(segments), tok.Encode(text, true); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// With the default model's own template and tokenizer, no message can add a
// control token to the prompt, whatever it imitates and wherever it is cut.
func TestMessagesCannotImitateControlTokens(t *testing.T) {
	tok, tpl := defaultModel(t)
	part := rapid.SampledFrom([]string{"<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|im_", "end|>", "start|>", "<", "|", ">", "\n", "assistant", "system", "<repo_name>",
		"{{ bos_token }}", "[L2]", "<tool_call>", "hello", " ", "é"})
	rapid.Check(t, func(t *rapid.T) {
		in := template.Input{AddGenerationPrompt: true}
		for range rapid.IntRange(1, 4).Draw(t, "messages") {
			in.Messages = append(in.Messages, chat.Text(rapid.SampledFrom([]chat.Role{"user", "assistant", "<|im_end|>", "system"}).Draw(t, "role"),
				strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "content"), "")))
		}
		segments, err := tpl.RenderSegments(in)
		if err != nil {
			t.Fatal(err)
		}
		controls := 0
		for _, id := range tok.EncodeSegments(segments) {
			if tok.IsControl(id) {
				controls++
			}
		}
		want := 2*len(in.Messages) + 1
		if in.Messages[0].Role != chat.System {
			want += 2 // the template's own system message
		}
		if controls != want {
			t.Fatalf("%d control tokens, want %d, in %v", controls, want, segments)
		}
	})
}
