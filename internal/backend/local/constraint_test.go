package local

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

var warm = chat.Sampling{Temperature: ptr(1.0), Seed: ptr(int64(11))}

// TestAnswersKeepToConstraints runs each kind of constraint on a model of random weights.
func TestAnswersKeepToConstraints(t *testing.T) {
	b, _ := tiny(t)
	for name, x := range map[string]struct {
		c    backend.Constraint
		f    string
		good func(string) bool
	}{
		"regex":       {c: backend.Constraint{Kind: backend.Regex, Text: "[a-f]{3,5}!"}, good: regexp.MustCompile(`^[a-f]{3,5}!$`).MatchString},
		"grammar":     {c: backend.Constraint{Kind: backend.Grammar, Text: `root ::= "<" ("a" | "b"){2} ">"`}, good: regexp.MustCompile(`^<[ab]{2}>$`).MatchString},
		"json_schema": {c: backend.Constraint{Kind: backend.JSONSchema, Text: `{"type":"integer","minimum":10,"maximum":12}`}, good: regexp.MustCompile(`^1[012]$`).MatchString},
		"response_format": {f: `{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"array","items":{"type":"boolean"},"minItems":1,"maxItems":3}}}`,
			good: func(s string) bool {
				var v []bool
				return json.Unmarshal([]byte(s), &v) == nil && len(v) > 0 && len(v) < 4
			}},
	} {
		r := backend.Request{Messages: ask("hello"), MaxTokens: 400, Constraint: x.c, Sampling: warm}
		r.Sampling.ResponseFormat = json.RawMessage(x.f)
		for range 2 { // the second time the grammar is there already
			got, err := generate(b, r)
			if err != nil || !x.good(got.text) || got.finish.Reason != chat.FinishStop {
				t.Errorf("%s: %q, %v", name, got.text, err)
			}
		}
	}
	if n := len(b.grammars.made); n != 4 {
		t.Errorf("%d grammars are kept", n)
	}
}

func TestAJSONObjectMayBeCut(t *testing.T) {
	b, _ := tiny(t)
	r := backend.Request{Messages: ask("hello"), MaxTokens: 5, Sampling: warm}
	r.Sampling.ResponseFormat = json.RawMessage(`{"type":"json_object"}`)
	got, err := generate(b, r)
	if err != nil || !strings.HasPrefix(got.text, "{") || got.finish.Reason == chat.FinishStop && !json.Valid([]byte(got.text)) {
		t.Errorf("%q, %v", got.text, err)
	}
}

var city = chat.ToolDef{Name: "weather", Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","maxLength":4},"days":{"type":"integer","minimum":1,"maximum":9}},"required":["city","days"],"additionalProperties":false}`)}

func TestRequiredCallsAreCalls(t *testing.T) {
	b, _ := tiny(t)
	odd := chat.ToolDef{Name: "odd", Parameters: json.RawMessage(`{"not":{}}`)}
	for _, choice := range []chat.ToolChoice{{Mode: "required", Single: true}, {Mode: "function", Name: "weather", Single: true}} {
		r := backend.Request{Messages: ask("hello"), MaxTokens: 600, Tools: []chat.ToolDef{odd, city}, ToolChoice: choice, Sampling: warm}
		if choice.Mode == "required" {
			r.Tools = r.Tools[1:]
		}
		got, err := generate(b, r)
		calls, pieces := joined(got.calls)
		if err != nil || len(calls) != 1 || got.finish.Reason != chat.FinishTools || got.text != "" {
			t.Fatalf("%+v: %+v, %v", choice, got, err)
		}
		if pieces < 10 {
			t.Errorf("the arguments came in %d pieces", pieces)
		}
		var args struct {
			City *string
			Days int
		}
		if err := json.Unmarshal([]byte(calls[0].Arguments), &args); err != nil || args.City == nil || args.Days < 1 {
			t.Errorf("arguments %s: %v", calls[0].Arguments, err)
		}
	}
}

// joined puts the pieces of each call together.
func joined(deltas []chat.ToolCallDelta) (calls []chat.ToolCall, pieces int) {
	var all backend.Collected
	for _, d := range deltas {
		all.Add(chat.Event{ToolCall: &d})
	}
	return all.Message().ToolCalls, len(deltas)
}

// A strict tool is kept to where the model may also talk: what begins like a call is a call
// of the schema.
func TestStrictToolsAreKeptTo(t *testing.T) {
	b, _ := tiny(t)
	held := city
	held.Strict = ptr(true)
	r := backend.Request{Messages: ask("hello"), MaxTokens: 40, Tools: []chat.ToolDef{held}, Sampling: warm}
	if _, err := generate(b, r); err != nil {
		t.Fatal(err)
	}
	c, err := language(&r)
	if err != nil {
		t.Fatal(err)
	}
	g, err := b.grammars.get(c)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"just talk": true,
		`Let me see. <tool_call>{"name": "weather", "arguments": {"city":"Oslo","days":1}}</tool_call>`: true,
		`<tool_call>{"name": "weather", "arguments": {"city":"Oslo","days":0}}</tool_call>`:             false,
		`<tool_call>{"name": "weather", "arguments": {"city":"Oslo"}}</tool_call>`:                      false,
		`<tool_call>{"name": "storm", "arguments": {}}</tool_call>`:                                     false,
		"<tool_call> is what I write": false,
	} {
		m := g.Start()
		if got := m.AcceptBytes([]byte(text)) == nil && m.Accepting(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	held.Strict = nil
	r.Tools = []chat.ToolDef{held}
	if c, err := language(&r); err != nil || c.Kind != backend.AnyText {
		t.Errorf("a tool that is not strict holds the answer to %q, %v", c.Kind, err)
	}
}

func TestACallThatIsCutIsACall(t *testing.T) {
	b, _ := tiny(t)
	r := backend.Request{Messages: ask("hello"), MaxTokens: 55, Tools: []chat.ToolDef{city}, ToolChoice: chat.ToolChoice{Mode: "required"}, Sampling: warm}
	got, err := generate(b, r)
	calls, _ := joined(got.calls)
	if err != nil || len(calls) != 1 || calls[0].Name != "weather" || got.finish.Reason != chat.FinishLength || got.text != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	if a := calls[0].Arguments; !strings.HasPrefix(a, "{") || json.Valid([]byte(a)) {
		t.Errorf("arguments %q", a)
	}
}

func TestConstraintsThatCannotBeKeptToAreRefused(t *testing.T) {
	b, _ := tiny(t)
	strict := chat.ToolDef{Name: "odd", Parameters: json.RawMessage(`{"not":{}}`), Strict: ptr(true)}
	for _, x := range []struct {
		change func(*backend.Request)
		code   errs.Code
	}{
		{func(r *backend.Request) { r.Constraint = backend.Constraint{Kind: "tags"} }, errs.Unsupported},
		{func(r *backend.Request) {
			r.Constraint = backend.Constraint{Kind: backend.JSONSchema, Text: `{"not":{}}`}
		}, errs.Unsupported},
		{func(r *backend.Request) { r.Constraint = backend.Constraint{Kind: backend.Regex, Text: `(`} }, errs.InvalidRequest},
		{func(r *backend.Request) { r.Sampling.ResponseFormat = json.RawMessage(`{"type":"xml"}`) }, errs.InvalidRequest},
		{func(r *backend.Request) {
			r.Tools, r.ToolChoice, r.Constraint = []chat.ToolDef{city}, chat.ToolChoice{Mode: "required"}, backend.Constraint{Kind: backend.JSONObject}
		}, errs.InvalidRequest},
		{func(r *backend.Request) {
			r.Tools, r.ToolChoice = []chat.ToolDef{strict}, chat.ToolChoice{Mode: "required"}
		}, errs.Unsupported},
	} {
		r := backend.Request{Messages: ask("hello"), MaxTokens: 5}
		x.change(&r)
		if _, err := generate(b, r); errs.CodeOf(err) != x.code {
			t.Errorf("%v, want %s", err, x.code)
		}
	}
}
