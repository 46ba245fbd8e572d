package grammar

import (
	"encoding/json"
	"testing"

	"macaron/internal/errs"
)

var hermes = Layout{Open: "<tool_call>\n{\"name\": \"", Middle: `", "arguments": `, Close: "}\n</tool_call>", Between: "\n"}

var offered = []Tool{
	{Name: "weather", Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"$ref":"#/$defs/c"}},"required":["city"],"additionalProperties":false,"$defs":{"c":{"type":"string","maxLength":9}}}`)},
	{Name: "say \"hi\""},
}

func tools(t *testing.T, l Layout, o ToolOptions, list ...Tool) *Grammar {
	t.Helper()
	g, err := vocabOf(t, newToy("a")).Tools(list, l, o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestToolCallsByMode(t *testing.T) {
	one := "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\":\"Rome\"}}\n</tool_call>"
	two := "<tool_call>\n{\"name\": \"say \\\"hi\\\"\", \"arguments\": {\"x\": [1]}}\n</tool_call>"
	for _, x := range []struct {
		name string
		g    *Grammar
		yes  []string
		no   []string
	}{
		{"required", tools(t, hermes, ToolOptions{Mode: Required}, offered...), []string{one, two}, []string{"", "hello", one + "\n" + two, one + "x"}},
		{"named", tools(t, hermes, ToolOptions{Mode: Required}, offered[0]), []string{one}, []string{two}},
		{"parallel", tools(t, hermes, ToolOptions{Mode: Required, Parallel: true}, offered...), []string{one, one + "\n" + two + "\n" + one}, []string{one + two}},
		{"auto", tools(t, hermes, ToolOptions{Parallel: true}, offered...), []string{"", "hello <tool <to", one, "I will look: <" + one + "\n" + two, "<<tool_call>", "<tool_call>\nno"},
			[]string{one + " and more", "hello <tool_call>\n{\"name\": \"other\", \"arguments\": {}}\n</tool_call>"}},
		{"auto with a trigger", tools(t, Layout{Open: hermes.Open, Middle: hermes.Middle, Close: hermes.Close, Trigger: "<tool_call>"}, ToolOptions{}, offered...), []string{"a<tool_call", one}, []string{"<tool_call>", "<tool_call> x"}},
		{"listed", tools(t, Layout{Begin: "[", End: "]", Between: ", ", Open: `{"name": "`, Middle: hermes.Middle, Close: "}"}, ToolOptions{Mode: Required, Parallel: true}, offered...),
			[]string{`[{"name": "weather", "arguments": {"city":"a"}}]`, `[{"name": "weather", "arguments": {"city":"a"}}, {"name": "weather", "arguments": {"city":"b"}}]`}, []string{`[]`, `{"name": "weather", "arguments": {"city":"a"}}`}},
	} {
		for _, s := range x.yes {
			if !accepts(x.g, s) {
				t.Errorf("%s: %q is refused", x.name, s)
			}
		}
		for _, s := range x.no {
			if accepts(x.g, s) {
				t.Errorf("%s: %q is taken", x.name, s)
			}
		}
	}
}

// TestSpecialTokensOpenCalls: a layout whose opening is a control token asks for that
// token, which no text can spell.
func TestSpecialTokensOpenCalls(t *testing.T) {
	tok := newToy("<tool>", "<", "t", "{", "}", "f", ":", `"`)
	v := vocabOf(t, tok)
	g, err := v.Tools([]Tool{{Name: "f"}}, Layout{Open: "<tool>", Middle: ":", Close: ""}, ToolOptions{Mode: Required})
	if err != nil {
		t.Fatal(err)
	}
	m := g.Start()
	for _, id := range []int32{1, 7, 8, 5, 6} {
		if ids := allowed(t, m); len(ids) == 0 || m.Accept(id) != nil {
			t.Fatalf("token %q is refused, allowed are %v", tok[id], ids)
		}
	}
	if !m.Accepting() || !m.Done() {
		t.Error("the call is not complete")
	}
}

func TestToolsThatCannotBeKeptToAreRefused(t *testing.T) {
	v := vocabOf(t, newToy("a"))
	for _, x := range []struct {
		tools []Tool
		l     Layout
		code  errs.Code
	}{
		{nil, hermes, errs.InvalidRequest},
		{[]Tool{{Name: "f", Parameters: json.RawMessage(`{"not":{}}`)}}, hermes, errs.Unsupported},
		{[]Tool{{Name: "f", Parameters: json.RawMessage(`{"type":"string"}`)}}, hermes, errs.InvalidRequest},
		{offered, Layout{Open: "<a>", Trigger: "b"}, errs.InvalidRequest},
	} {
		if _, err := v.Tools(x.tools, x.l, ToolOptions{}); errs.CodeOf(err) != x.code {
			t.Errorf("%v, want %s", err, x.code)
		}
	}
}
