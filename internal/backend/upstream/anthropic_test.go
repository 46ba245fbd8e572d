package upstream

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// messages starts a server of the Messages API that notes what it is sent.
func messages(t *testing.T, kind string, status int, answer string) (*Backend, func() (map[string]any, http.Header)) {
	t.Helper()
	var body []byte
	var header http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/messages" {
			t.Errorf("asked at %s", r.URL.Path)
		}
		body, _ = io.ReadAll(r.Body)
		header = r.Header
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	b := New(Config{URL: srv.URL + "/v1", Key: "sk-canary", Dialect: "anthropic", Timeout: time.Minute})
	t.Cleanup(func() { _ = b.Close(); srv.Close() })
	return b, func() (map[string]any, http.Header) {
		var m map[string]any
		if err := json.Unmarshal(body, &m); err != nil {
			t.Fatal(err)
		}
		return m, header
	}
}

// The events as the API's documentation has them: thinking, text and a call, with pings
// between them and usage at both ends.
const messagesStream = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: ping
data: {"type":"ping"}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"I look."}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"look","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"n\": "}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"1}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_2","name":"now","input":{}}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":42}}

event: message_stop
data: {"type":"message_stop"}

`

const messagesWhole = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"Hm.","signature":"x"},{"type":"text","text":"I look."},
{"type":"tool_use","id":"toolu_1","name":"look","input":{"n": 1}},{"type":"tool_use","id":"toolu_2","name":"now","input":{}}],"stop_reason":"tool_use","stop_sequence":null,
"usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":42}}`

func TestMessagesAreReadAndWritten(t *testing.T) {
	for kind, answer := range map[string]string{"text/event-stream; charset=utf-8": messagesStream, "application/json": messagesWhole} {
		b, sent := messages(t, kind, 200, answer)
		q := ask("m")
		result := chat.Text(chat.Tool, "2")
		result.ToolCallID = "toolu_0"
		q.Messages = []chat.Message{chat.Text(chat.System, "Act."), chat.Text(chat.User, "hi"),
			{Role: chat.Assistant, ToolCalls: []chat.ToolCall{{ID: "toolu_0", Name: "look", Arguments: `{"n":0}`}}}, result, chat.Text(chat.User, "Go on.")}
		q.Tools = []chat.ToolDef{{Name: "look", Description: "Look.", Parameters: json.RawMessage(`{"type":"object"}`)}}
		q.ToolChoice = chat.ToolChoice{Mode: "required", Single: true}
		all, err := collect(t.Context(), b, q)
		if err != nil {
			t.Fatal(err)
		}
		want := chat.Message{Role: chat.Assistant, Reasoning: "Hm.", Parts: []chat.Part{{Kind: "text", Text: "I look."}},
			ToolCalls: []chat.ToolCall{{ID: "toolu_1", Name: "look", Arguments: `{"n": 1}`}, {ID: "toolu_2", Name: "now", Arguments: "{}"}}}
		if d := cmp.Diff(want, all.Message()); d != "" {
			t.Error(kind, d)
		}
		if u := all.Finish.Usage; all.Finish.Reason != chat.FinishTools || u.PromptTokens != 125 || u.CachedTokens != 100 || u.OutputTokens != 42 {
			t.Errorf("%s: %+v", kind, all.Finish)
		}
		body, header := sent()
		if header.Get("X-Api-Key") != "sk-canary" || header.Get("Anthropic-Version") == "" || header.Get("Authorization") != "" {
			t.Errorf("%v", header)
		}
		var expect map[string]any
		if err := json.Unmarshal([]byte(`{"model":"m","max_tokens":16,"stream":true,"system":"Act.","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"toolu_0","name":"look","input":{"n":0}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_0","content":"2"},{"type":"text","text":"Go on."}]}],
			"tools":[{"name":"look","description":"Look.","input_schema":{"type":"object"}}],"tool_choice":{"type":"any","disable_parallel_tool_use":true}}`), &expect); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(expect, body); d != "" {
			t.Error(d)
		}
	}
}

func TestMessagesFailInTheirOwnWords(t *testing.T) {
	said := func(kind, text string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + text + `"}}`
	}
	for name, c := range map[string]struct {
		kind   string
		status int
		answer string
		want   errs.Code
	}{
		"overloaded":           {"application/json", 529, said("overloaded_error", "Overloaded"), errs.Overloaded},
		"rate":                 {"application/json", 429, said("rate_limit_error", "slower"), errs.Overloaded},
		"key":                  {"application/json", 401, said("authentication_error", "invalid x-api-key"), errs.UpstreamFailed},
		"model":                {"application/json", 404, said("not_found_error", "model: m"), errs.UpstreamFailed},
		"too long":             {"application/json", 400, said("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), errs.ContextExceeded},
		"inside of the stream": {"text/event-stream", 200, "event: error\ndata: " + said("overloaded_error", "Overloaded") + "\n\n", errs.Overloaded},
		"cut off":              {"text/event-stream", 200, messagesStream[:900], errs.UpstreamFailed},
	} {
		b, _ := messages(t, c.kind, c.status, c.answer)
		if _, err := collect(t.Context(), b, ask("m")); errs.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		} else if c.status == 529 && errs.As(err).RetryAfter != 7*time.Second {
			t.Errorf("%s: to be tried again after %v", name, errs.As(err).RetryAfter)
		}
	}
	b, _ := messages(t, "application/json", 200, messagesWhole)
	q := ask("m")
	q.Constraint = backend.Constraint{Kind: backend.JSONObject, Field: "response_format"}
	if _, err := collect(t.Context(), b, q); errs.CodeOf(err) != errs.Unsupported || b.Capabilities().JSONSchema || b.Capabilities().Choices {
		t.Errorf("a constraint: %v", err)
	}
}
