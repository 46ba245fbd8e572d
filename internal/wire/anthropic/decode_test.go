package anthropic

import (
	"encoding/json"
	"fmt"
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

func textPart(s string) chat.Part { return chat.Part{Kind: "text", Text: s} }

func TestDecodeTakesEveryBlock(t *testing.T) {
	r, err := decode([]byte(`{"model":"macaron/L2","max_tokens":2000,"stream":true,"temperature":0.5,"top_p":1,"top_k":0,"stop_sequences":["END"],
		"system":[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}},{"type":"text","text":"two"}],
		"metadata":{"user_id":"ann","x":1},"service_tier":"auto","new_thing":1,"speed":null,"macaron":{"session":"ses_x"},
		"thinking":{"type":"enabled","budget_tokens":1024,"display":"omitted"},
		"tools":[{"name":"f","description":"d","input_schema":{"type":"object","b":1,"a":2},"strict":true,"cache_control":{"type":"ephemeral"}},{"type":"custom","name":"g","input_schema":{}}],
		"tool_choice":{"type":"tool","name":"f","disable_parallel_tool_use":true},
		"messages":[
			{"role":"user","content":"hi"},
			{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s"},{"type":"redacted_thinking","data":"x"},{"type":"text","text":"say","citations":null},
				{"type":"tool_use","id":"c1","name":"f","input":{"a": 1},"caller":null},{"type":"text","text":" so"},{"type":"tool_use","id":"c2","name":"g","input":{}}]},
			{"role":"user","content":[
				{"type":"tool_result","tool_use_id":"c1","content":"r1"},
				{"type":"tool_result","tool_use_id":"c2","is_error":true,"content":[{"type":"text","text":"r2","cache_control":{"type":"ephemeral"}}]},
				{"type":"text","text":"see"},
				{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUI="}},
				{"type":"image","source":{"type":"url","url":"https://x/<y>"}},
				{"type":"document","title":"T","source":{"type":"text","media_type":"text/plain","data":"D"},"citations":{"enabled":true}},
				{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"QUI="}},
				{"type":"document","source":{"type":"content","content":"C"}},
				{"type":"search_result","title":"S","source":"src","content":[{"type":"text","text":"found"}]}]},
			{"role":"system","content":"later"},
			{"role":"user","content":"go"}]}`), false)
	if err != nil {
		t.Fatal(err)
	}
	want := []chat.Message{
		{Role: chat.System, Parts: []chat.Part{textPart("one"), textPart("two")}},
		chat.Text(chat.User, "hi"),
		{Role: chat.Assistant, Reasoning: "h", Parts: []chat.Part{textPart("say so")},
			ToolCalls: []chat.ToolCall{{ID: "c1", Name: "f", Arguments: `{"a": 1}`}, {ID: "c2", Name: "g", Arguments: `{}`}}},
		{Role: chat.Tool, ToolCallID: "c1", Parts: []chat.Part{textPart("r1")}},
		{Role: chat.Tool, ToolCallID: "c2", Parts: []chat.Part{textPart("Error:"), textPart("r2")}},
		{Role: chat.User, Parts: []chat.Part{textPart("see"),
			{Kind: "image", Raw: json.RawMessage(`{"image_url":{"url":"data:image/png;base64,QUI="},"type":"image_url"}`)},
			{Kind: "image", Raw: json.RawMessage(`{"image_url":{"url":"https://x/<y>"},"type":"image_url"}`)},
			textPart("T"), textPart("D"),
			{Kind: "file", Raw: json.RawMessage(`{"file":{"file_data":"data:application/pdf;base64,QUI=","filename":"document.pdf"},"type":"file"}`)},
			textPart("C"), textPart("S"), textPart("src"), textPart("found")}},
		chat.Text(chat.System, "later"),
		chat.Text(chat.User, "go"),
	}
	if d := cmp.Diff(want, r.Messages); d != "" {
		t.Error(d)
	}
	origins := []string{"system", "messages[0]", "messages[1]", "messages[2].content[0]", "messages[2].content[1]", "messages[2]", "messages[3]", "messages[4]"}
	if d := cmp.Diff(origins, r.origins); d != "" {
		t.Error(d)
	}
	if r.Adapter != "L2" || r.Scope != "ann" || r.Session != "ses_x" || !r.stream || !r.hidden || r.Reasoning != "low" || r.MaxTokens != 2000 ||
		*r.Sampling.TopK != 0 || *r.Sampling.Temperature != 0.5 || r.Sampling.Stop[0] != "END" {
		t.Errorf("%+v", r)
	}
	ignored := chatapi.Ignored{"messages[].content[]", "messages[].content[].content[].cache_control", "messages[].content[].citations", "metadata.x", "new_thing", "service_tier", "system[].cache_control", "tools[].cache_control"}
	if d := cmp.Diff(ignored, r.ignored); d != "" {
		t.Error(d)
	}
	if string(r.Tools[0].Parameters) != `{"type":"object","b":1,"a":2}` || !*r.Tools[0].Strict || r.Tools[1].Name != "g" ||
		!cmp.Equal(r.ToolChoice, chat.ToolChoice{Mode: "function", Name: "f", Single: true}) {
		t.Errorf("%+v %+v", r.Tools, r.ToolChoice)
	}
}

// good is a body with more fields.
func good(extra string) string {
	return `{"model":"macaron","max_tokens":9,"messages":[{"role":"user","content":"x"}]` + extra + `}`
}

// said is a body with these messages.
func said(messages string) string {
	return `{"model":"macaron","max_tokens":9,"messages":[` + messages + `]}`
}

func TestWhatCannotBeHonouredIsRefusedByName(t *testing.T) {
	use := `{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},`
	for body, field := range map[string]string{
		`{"max_tokens":9,"messages":[{"role":"user","content":"x"}]}`:                  "model",
		`{"model":"macaron","max_tokens":9}`:                                           "messages",
		`{"model":"macaron","messages":[{"role":"user","content":"x"}]}`:               "max_tokens",
		`{"model":"claude","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`: "model",
		strings.Replace(good(""), `:9`, `:0`, 1):                                       "max_tokens",
		strings.Replace(good(""), `:9`, `:9.0`, 1):                                     "max_tokens",
		good(`,"temperature":1.5`):                                                     "temperature",
		good(`,"top_p":"1"`):                                                           "top_p",
		good(`,"top_k":-1`):                                                            "top_k",
		good(`,"stop_sequences":"x"`):                                                  "stop_sequences",
		good(`,"stop_sequences":[""]`):                                                 "stop_sequences[0]",
		good(`,"stream":1`):                                                            "stream",
		good(`,"system":[{"type":"image"}]`):                                           "system[0].type",
		good(`,"system":7`):                                                            "system",
		good(`,"metadata":{"user_id":1}`):                                              "metadata.user_id",
		good(`,"container":"c"`):                                                       "container",
		good(`,"mcp_servers":[]`):                                                      "mcp_servers",
		good(`,"context_management":{}`):                                               "context_management",
		good(`,"output_format":{}`):                                                    "output_format",
		good(`,"thinking":{"type":"between_tools"}`):                                   "thinking.type",
		good(`,"thinking":{"type":"enabled"}`):                                         "thinking.budget_tokens",
		good(`,"thinking":{"type":"enabled","budget_tokens":1024}`):                    "thinking.budget_tokens",
		good(`,"output_config":{"effort":"huge"}`):                                     "output_config.effort",
		good(`,"output_config":{"format":{"type":"xml"}}`):                             "output_config.format.type",
		good(`,"output_config":{"format":{"type":"json_schema"}}`):                     "output_config.format.schema",
		good(`,"tools":[{"type":"web_search_20250305","name":"web_search"}]`):          "tools[0].type",
		good(`,"tools":[{"name":"f"}]`):                                                "tools[0].input_schema",
		good(`,"tools":[{"name":"f","input_schema":7}]`):                               "tools[0].input_schema",
		good(`,"tools":[{"name":"f g","input_schema":{}}]`):                            "tools[0].name",
		good(`,"tool_choice":{"type":"any"}`):                                          "tool_choice",
		good(`,"tool_choice":{"type":"tool"}`):                                         "tool_choice.name",
		good(`,"tool_choice":"auto"`):                                                  "tool_choice",
		good(`,"macaron":{"route":"L2"}`):                                              "macaron.route",
		good(`,"model":"macaron"`):                                                     "model",
		said(``):                                                                       "messages",
		said(`{"role":"wizard","content":"x"}`):                                        "messages[0].role",
		said(`{"role":"user"}`):                                                        "messages[0].content",
		said(`{"role":"user","content":[]}`):                                           "messages[0].content",
		said(`{"role":"user","content":[{"type":"text"}]}`):                            "messages[0].content[0].text",
		said(`{"role":"user","content":[{"type":"server_tool_use"}]}`):                 "messages[0].content[0].type",
		said(`{"role":"user","content":[{"type":"thinking","thinking":"x"}]}`):         "messages[0].content[0].type",
		said(`{"role":"user","content":[{"type":"image","source":{"type":"file","file_id":"f"}}]}`):                                                               "messages[0].content[0].source.type",
		said(`{"role":"user","content":[{"type":"image","source":{"type":"url","url":"file:///etc/passwd"}}]}`):                                                   "messages[0].content[0].source.url",
		said(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%"}}]}`):                                       "messages[0].content[0].source.data",
		said(`{"role":"user","content":[{"type":"document","source":{"type":"url","url":"https://x"}}]}`):                                                         "messages[0].content[0].source.type",
		said(`{"role":"user","content":"x"},{"role":"assistant","content":"y"}`):                                                                                  "messages[1].role",
		said(`{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"image"}]},{"role":"user","content":"x"}`):                                     "messages[1].content[0].type",
		said(use + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"d"}]}`):                                                                        "messages[2].content[0].tool_use_id",
		said(use + `{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"c"}]}`):                                             "messages[2].content[1]",
		said(use + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","is_error":"no"}]}`):                                                        "messages[2].content[0].is_error",
		said(`{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":"{}"}]},{"role":"user","content":"x"}`): "messages[1].content[0].input",
	} {
		_, err := decode([]byte(body), false)
		if e := errs.As(err); e == nil || e.Field != field || e.Code.Status() >= 500 {
			t.Errorf("%s gives %v, want %s", body, err, field)
		}
	}
}

// Thinking becomes an effort by one rule.
func TestThinkingBecomesAnEffort(t *testing.T) {
	for _, c := range []struct{ fields, effort, field, ignored string }{
		{``, "", "", "[]"},
		{`,"thinking":{"type":"adaptive"}`, "", "", "[]"},
		{`,"thinking":{"type":"disabled"}`, "none", "", "[]"},
		{`,"thinking":{"type":"disabled"},"output_config":{"effort":"low"}`, "none", "", "[output_config.effort]"},
		{`,"thinking":{"type":"enabled","budget_tokens":4095}`, "low", "thinking", "[]"},
		{`,"thinking":{"type":"enabled","budget_tokens":4096}`, "medium", "thinking", "[]"},
		{`,"thinking":{"type":"enabled","budget_tokens":16384}`, "high", "thinking", "[]"},
		{`,"thinking":{"type":"enabled","budget_tokens":2000},"output_config":{"effort":"max"}`, "xhigh", "output_config.effort", "[]"},
		{`,"thinking":{"type":"adaptive"},"output_config":{"effort":"medium"}`, "medium", "output_config.effort", "[]"},
	} {
		r, err := decode([]byte(`{"model":"macaron","max_tokens":99999,"messages":[{"role":"user","content":"x"}]`+c.fields+`}`), false)
		if err != nil || r.Reasoning != c.effort || r.think.field != c.field || fmt.Sprint(r.ignored) != c.ignored {
			t.Errorf("%s: %v, %+v", c.fields, err, r)
		}
	}
}

func TestTheListOfWhatIsIgnoredIsBounded(t *testing.T) {
	var extra strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&extra, `,"x%d":1`, i)
	}
	r, err := decode([]byte(good(extra.String())), false)
	if err != nil || len(r.ignored) != chatapi.MaxIgnored {
		t.Errorf("%v, %d", err, len(r.ignored))
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		good(""), good(`,"tools":[{"name":"f","input_schema":{}}],"tool_choice":{"type":"any"},"system":"s","stop_sequences":["a"]`),
		good(`,"thinking":{"type":"enabled","budget_tokens":1024},"output_config":{"effort":"low","format":{"type":"json_schema","schema":{}}}`),
		said(`{"role":"user","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUI="}}]}`),
		said(`{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"document","source":{"type":"content","content":"C"}}]}]}`),
		said(`{"role":"user","content":[{"type":"search_result","title":"S","source":"src","content":[{"type":"text","text":"found"}]}]}`),
		`{"system":[],"messages":[{}]}`, `[]`, `nul`, "\xff",
	} {
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, b []byte, counted bool) {
		r, err := decode(b, counted)
		if err != nil {
			if status := errs.CodeOf(err).Status(); status < 400 || status >= 500 {
				t.Fatalf("a body gives %v", err)
			}
			return
		}
		if limits.Conversation(r.Messages) != nil || r.model == "" || len(r.origins) != len(r.Messages) || len(r.ignored) > chatapi.MaxIgnored || !counted && r.MaxTokens < 1 {
			t.Fatalf("took %+v", r)
		}
	})
}
