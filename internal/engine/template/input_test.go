package template_test

import (
	"encoding/json"
	"strings"
	"testing"

	"macaron/internal/chat"
	"macaron/internal/engine/template"
	"macaron/internal/errs"
)

func render(t *testing.T, src string, in template.Input) (string, error) {
	t.Helper()
	tpl, err := template.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	return tpl.Render(in)
}

func TestToolsKeepTheOrderOfTheirKeys(t *testing.T) {
	in := template.Input{Tools: []chat.ToolDef{{Name: "f", Description: "d", Parameters: json.RawMessage(`{"z":1,"a":{"y":[true,null,1.50,"x"],"b":{}},"m":12345678901234567890}`)}}}
	got, err := render(t, "{{ tools | tojson }}", in)
	want := `[{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"z": 1, "a": {"y": [true, null, 1.5, "x"], "b": {}}, "m": 1.2345678901234567e+19}}}]`
	if err != nil || got != want {
		t.Errorf("%v\n%s\n%s", err, got, want)
	}
}

func TestMessagesAsTemplatesKnowThem(t *testing.T) {
	in := template.Input{Messages: []chat.Message{
		{Role: chat.Assistant, Reasoning: "r", ToolCalls: []chat.ToolCall{{ID: "c1", Name: "f", Arguments: `{"b":1,"a":2}`}, {Name: "g", Arguments: `not JSON`}, {Name: "h", Arguments: `{"cut":`}}},
		{Role: chat.Tool, ToolCallID: "c1", Name: "f", Parts: []chat.Part{{Kind: "text", Text: "x"}, {Kind: "text", Text: "y"}}},
		{Role: chat.User, Parts: []chat.Part{{Kind: "text", Text: "see"}, {Kind: "image", Raw: json.RawMessage(`{"type":"image_url","image_url":{"url":"u"}}`)}, {Kind: "file"}}},
	}}
	got, err := render(t, "{% for m in messages %}{{ m | tojson }}\n{% endfor %}", in)
	want := `{"thinking": "r", "role": "assistant", "content": "", "reasoning_content": "r", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"b": 1, "a": 2}}}, {"type": "function", "function": {"name": "g", "arguments": "not JSON"}}, {"type": "function", "function": {"name": "h", "arguments": "{\"cut\":"}}]}
{"role": "tool", "content": "x\ny", "name": "f", "tool_call_id": "c1"}
{"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "u"}}, {"type": "file"}]}
`
	if err != nil || got != want {
		t.Errorf("%v\n%s\n%s", err, got, want)
	}
}

func TestWhatMayNotBeRendered(t *testing.T) {
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	for name, in := range map[string]template.Input{
		"a variable of the program's": {Extra: map[string]any{"messages": "x"}},
		"an unknown variable":         {Extra: map[string]any{"add_generation_prompt": true}},
		"a list":                      {Extra: map[string]any{"reasoning_effort": []string{"x"}}},
		"malformed parameters":        {Tools: []chat.ToolDef{{Name: "f", Parameters: json.RawMessage(`{"a":`)}}},
		"two values":                  {Tools: []chat.ToolDef{{Name: "f", Parameters: json.RawMessage(`{} {}`)}}},
		"deep parameters":             {Tools: []chat.ToolDef{{Name: "f", Parameters: json.RawMessage(deep)}}},
		"deep arguments":              {Messages: []chat.Message{{Role: chat.Assistant, ToolCalls: []chat.ToolCall{{Name: "f", Arguments: `{"a":` + deep + "}"}}}}},
	} {
		if _, err := render(t, "x", in); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := render(t, "{{ enable_thinking }}{{ reasoning_effort }}{{ thinking_budget + 1 }}",
		template.Input{Extra: map[string]any{"enable_thinking": false, "reasoning_effort": "high", "thinking_budget": 7}})
	if err != nil || got != "Falsehigh8" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestARefusalIsTheRequestsFault(t *testing.T) {
	_, err := render(t, "{{ raise_exception('roles must alternate') }}", template.Input{})
	if e := errs.As(err); e.Code != errs.InvalidRequest || !strings.Contains(e.Message, "roles must alternate") || e.Next == "" {
		t.Errorf("%v", err)
	}
	if _, err := render(t, "{{ strftime_now('%Y') }}", template.Input{}); errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("a date without a clock: %v", err)
	}
}

func TestUsesToolsAndHash(t *testing.T) {
	with, err := template.Parse("{% if tools %}x{% endif %}")
	if err != nil {
		t.Fatal(err)
	}
	without, err := template.Parse("tools {{ 'tools' }} {{ messages.tools }}")
	if err != nil {
		t.Fatal(err)
	}
	if !with.UsesTools() || without.UsesTools() {
		t.Error("UsesTools is wrong")
	}
	if with.Hash() == without.Hash() || !strings.HasPrefix(with.Hash(), "sha256:") || len(with.Hash()) != 71 {
		t.Errorf("%s, %s", with.Hash(), without.Hash())
	}
}
