package responses

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDecodeTakesEveryFormOfAnItem(t *testing.T) {
	r, err := decode([]byte(`{"model":"macaron/L2","instructions":"sys","user":"ann","temperature":null,"max_output_tokens":5,"parallel_tool_calls":false,
		"tools":[{"type":"function","name":"f","description":"d","parameters":{"b":1,"a":2},"strict":true}],"tool_choice":{"type":"function","name":"f"},
		"reasoning":{"effort":"low","summary":"auto"},"text":{"verbosity":"low","format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":true}},
		"include":["reasoning.encrypted_content","message.input_image.image_url"],"truncation":"auto","wish":1,
		"input":[{"role":"developer","content":"dev"},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:x","detail":"low"},{"type":"input_file","filename":"a","file_data":"data:y"}]},
			{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},
			{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"ok","annotations":[]}]},
			{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\": 1}"},{"type":"function_call","call_id":"c2","name":"f","arguments":"{}"},
			{"type":"function_call_output","call_id":"c1","output":"r1"},{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"r2"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.messages(r.input, nil); err != nil {
		t.Fatal(err)
	}
	result := func(id, text string) chat.Message { m := chat.Text(chat.Tool, text); m.ToolCallID = id; return m }
	want := []chat.Message{
		chat.Text(chat.System, "sys"), chat.Text(chat.System, "dev"),
		{Role: chat.User, Parts: []chat.Part{{Kind: "text", Text: "see"}, {Kind: "image", Raw: json.RawMessage(`{"image_url":{"detail":"low","url":"data:x"},"type":"image_url"}`)},
			{Kind: "file", Raw: json.RawMessage(`{"file":{"file_data":"data:y","filename":"a"},"type":"file"}`)}}},
		{Role: chat.Assistant, Reasoning: "hm", Parts: []chat.Part{{Kind: "text", Text: "ok"}}, ToolCalls: []chat.ToolCall{{ID: "c1", Name: "f", Arguments: `{"a": 1}`}, {ID: "c2", Name: "f", Arguments: "{}"}}},
		result("c1", "r1"), result("c2", "r2"),
	}
	if d := cmp.Diff(want, r.Messages); d != "" {
		t.Error(d)
	}
	if r.Adapter != "L2" || r.Scope != "ann" || r.MaxTokens != 5 || r.Reasoning != "low" || !cmp.Equal(r.ToolChoice, chat.ToolChoice{Mode: "function", Name: "f", Single: true}) || string(r.Tools[0].Parameters) != `{"b":1,"a":2}` {
		t.Errorf("%+v", r)
	}
	if d := cmp.Diff(`{"json_schema":{"name":"n","schema":{"type":"object"},"strict":true},"type":"json_schema"}`, string(r.Sampling.ResponseFormat)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(chatapi.Ignored{"include: reasoning.encrypted_content", "reasoning.summary", "text.verbosity", "truncation", "wish"}, r.ignored); d != "" {
		t.Error(d)
	}
}

func TestDecodeRefusesByName(t *testing.T) {
	for body, field := range map[string]string{
		`"input":"x","tools":[{"type":"web_search"}]`:                                       "tools[0].type",
		`"input":"x","tools":[{"type":"custom","name":"f"}]`:                                "tools[0].type",
		`"input":"x","tool_choice":{"type":"allowed_tools","mode":"auto","tools":[]}`:       "tool_choice.type",
		`"input":"x","tool_choice":"required"`:                                              "tool_choice",
		`"input":[{"type":"web_search_call","id":"x"}]`:                                     "input[0].type",
		`"input":[{"role":"wizard","content":"x"}]`:                                         "input[0].role",
		`"input":[{"role":"user","content":123}]`:                                           "input[0].content",
		`"input":[{"role":"user","content":[{"type":"input_image","file_id":"f"}]}]`:        "input[0].content[0].file_id",
		`"input":[{"role":"user","content":[{"type":"input_file","file_url":"http://x"}]}]`: "input[0].content[0].file_url",
		`"input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{"}]`:       "input[0].arguments",
		`"input":[]`: "input",
		`"input":"x","background":true,"store":false`:                                                  "background",
		`"input":"x","include":["message.output_text.logprobs"]`:                                       "include",
		`"input":"x","conversation":"conv_01ARZ3NDEKTSV4RRFFQ69G5FAV","previous_response_id":"resp_x"`: "conversation",
		`"input":"x","prompt":{"id":"p"}`:                                                              "prompt",
		`"input":"x","metadata":{"a":1}`:                                                               "metadata.a",
		`"input":"x","max_output_tokens":10.0`:                                                         "max_output_tokens",
		`"input":"x","text":{"format":{"type":"json_schema","name":"x"}}`:                              "text.format.schema",
	} {
		_, err := decode([]byte(`{"model":"macaron",` + body + `}`))
		if e := errs.As(err); err == nil || e.Field != field || e.Code.Status() >= 500 {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"model":"macaron","input":"x"}`, `{"model":"macaron","input":[{"role":"user","content":[{"type":"input_text","text":"x"}]}],"tools":[]}`,
		`{"model":"macaron","input":[{"type":"reasoning","summary":[{"type":"summary_text","text":"x"}]},{"type":"function_call","call_id":"c","name":"f"},{"type":"function_call_output","call_id":"c","output":""}]}`,
		`{"model":"macaron","input":[{"type":"item_reference","id":"msg_1"}],"conversation":{},"text":{"format":{"type":"json_object"}},"tool_choice":{}}`,
		`{"include":[1]}`, `{"input":[null]}`, `[]`, "\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decode(b)
		if err == nil {
			err = r.messages(r.input, nil)
		}
		if err != nil {
			if status := errs.CodeOf(err).Status(); status < 400 || status >= 500 {
				t.Fatalf("a body gives %v", err)
			}
			return
		}
		if limits.Conversation(r.Messages) != nil || r.asked.Model == "" || r.MaxTokens < 0 {
			t.Fatalf("took %+v", r)
		}
		if _, err := encodeAsked(r.asked, r.ignored); err != nil {
			t.Fatal(err)
		}
	})
}

func TestNames(t *testing.T) {
	const turn = "trn_01ARZ3NDEKTSV4RRFFQ69G5FAV"
	for step, id := range []string{"resp_01ARZ3NDEKTSV4RRFFQ69G5FAV", "resp_01ARZ3NDEKTSV4RRFFQ69G5FAV_1"} {
		if got, n, err := parseID(id); responseID(turn, step) != id || got != turn || n != step || err != nil {
			t.Errorf("%s: %s %d %v", id, got, n, err)
		}
		if r, n, ok := parseItem(itemID("message", id, 7)); r != id || n != 7 || !ok {
			t.Errorf("%s: %s %d %t", itemID("message", id, 7), r, n, ok)
		}
	}
	for _, bad := range []string{"", "resp_", "resp_x", "resp_01ARZ3NDEKTSV4RRFFQ69G5FAV_0", "resp_01ARZ3NDEKTSV4RRFFQ69G5FAV_01", "resp_01ARZ3NDEKTSV4RRFFQ69G5FAV_", "trn_01ARZ3NDEKTSV4RRFFQ69G5FAV"} {
		if _, _, err := parseID(bad); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// docs/formats/responses.md names every field that is known.
func TestThePageTellsOfEveryField(t *testing.T) {
	page, err := os.ReadFile("../../../docs/formats/responses.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("the page does not tell of %s", name)
		}
	}
}
