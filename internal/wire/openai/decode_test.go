package openai

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/obs"
	"macaron/internal/turn"
	"macaron/internal/wire/chatapi"
	"macaron/internal/wire/sse"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDecodeTakesEveryFormOfAMessage(t *testing.T) {
	r, err := decode([]byte(`{"model":"macaron/L2","stream":true,"user":"ann","temperature":null,"stop":["a","b"],"n":1,"top_k":-1,
		"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"b":1,"a":2},"strict":true}}],
		"tool_choice":{"type":"function","function":{"name":"f"}},"parallel_tool_calls":false,"reasoning_effort":"low",
		"service_tier":"auto","stream_options":{"include_usage":true,"x":1},"macaron":{"session":"ses_x"},
		"messages":[{"role":"developer","content":"sys"},
			{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:x"}}],"name":"ann"},
			{"role":"assistant","content":null,"refusal":null,"annotations":[],"reasoning_content":"hm","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]},
			{"role":"tool","tool_call_id":"c","content":"r"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []chat.Message{
		chat.Text(chat.System, "sys"),
		{Role: chat.User, Name: "ann", Parts: []chat.Part{{Kind: "text", Text: "see"}, {Kind: "image", Raw: json.RawMessage(`{"image_url":{"url":"data:x"},"type":"image_url"}`)}}},
		{Role: chat.Assistant, Reasoning: "hm", ToolCalls: []chat.ToolCall{{ID: "c", Name: "f", Arguments: `{"a": 1}`}}},
		{Role: chat.Tool, ToolCallID: "c", Parts: []chat.Part{{Kind: "text", Text: "r"}}},
	}
	if d := cmp.Diff(want, r.Messages); d != "" {
		t.Error(d)
	}
	if r.Adapter != "L2" || r.Scope != "ann" || r.Session != "ses_x" || !r.includeUsage || r.Reasoning != "low" || *r.Sampling.TopK != 0 {
		t.Errorf("%+v", r)
	}
	if d := cmp.Diff(chatapi.Ignored{"service_tier", "stream_options.x"}, r.ignored); d != "" {
		t.Error(d)
	}
	if string(r.Tools[0].Parameters) != `{"b":1,"a":2}` || !cmp.Equal(r.ToolChoice, chat.ToolChoice{Mode: "function", Name: "f", Single: true}) {
		t.Errorf("%+v %+v", r.Tools, r.ToolChoice)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"model":"macaron","messages":[{"role":"user","content":"x"}]}`,
		`{"model":"macaron","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],"stop":"a","tools":[]}`,
		`{"model":"macaron","messages":[{"role":"user","content":123}],"temperature":NaN}`,
		`{"model":"macaron/../x","messages":[{"role":"wizard"}],"n":2}`,
		`{"model":"macaron","messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]}]}`,
		`{"model":"macaron","messages":[{"role":"user","content":"x"}],"tool_choice":{},"metadata":[],"macaron":null,"stop":[],"logit_bias":{}}`,
		`{"stream_options":1}`, `[]`, `nul`, "\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decode(b)
		if err != nil {
			if status := errs.CodeOf(err).Status(); status < 400 || status >= 500 {
				t.Fatalf("a body gives %v", err)
			}
			return
		}
		if limits.Conversation(r.Messages) != nil || r.model == "" || r.MaxTokens < 0 {
			t.Fatalf("took %+v", r)
		}
	})
}

// acting is a turn whose events a test gives.
type acting func(ctx context.Context, out turn.Sink) error

func (f acting) Run(ctx context.Context, _ turn.Request, out turn.Sink) error { return f(ctx, out) }

func call(t *testing.T, patience time.Duration, act acting) *http.Response {
	t.Helper()
	srv := httptest.NewServer(Handler(Deps{Turns: act, Owner: func(*http.Request) string { return "local" }, Clock: clock.System{}, Log: obs.Discard(), Failed: func(string) {},
		Stream: sse.Options{Heartbeat: 20 * time.Millisecond}, Patience: patience}))
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() { client.CloseIdleConnections(); srv.Close() })
	resp, err := client.Post(srv.URL+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"macaron","stream":true,"messages":[{"role":"user","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// A prompt that takes long to read gets its status line and a pulse all the same;
// an error after that is the last event, and there is exactly one end.
func TestALongSilenceIsKeptAlive(t *testing.T) {
	heard := make(chan struct{})
	resp := call(t, 10*time.Millisecond, func(ctx context.Context, out turn.Sink) error {
		if err := out.Chosen(turn.Report{Turn: "trn_1", Adapter: "L2"}); err != nil {
			return err
		}
		select {
		case <-heard:
		case <-ctx.Done():
		}
		return errs.New(errs.UpstreamFailed, "no answer", "")
	})
	text, in := "", bufio.NewReader(resp.Body)
	for err := error(nil); err == nil; {
		var line string
		if line, err = in.ReadString('\n'); line == ": keepalive\n" && !strings.Contains(text, line) {
			close(heard)
		}
		text += line
	}
	if resp.StatusCode != 200 || resp.Header.Get("X-Macaron-Adapter") != "L2" || !strings.Contains(text, ": keepalive\n\n") || !strings.Contains(text, `"role":"assistant"`) {
		t.Errorf("%d %v\n%s", resp.StatusCode, resp.Header, text)
	}
	if strings.Count(text, `"code":"upstream_failed"`) != 1 || strings.Contains(text, "[DONE]") {
		t.Errorf("the end of %s", text)
	}
}

func TestAnErrorInTimeHasItsStatus(t *testing.T) {
	resp := call(t, time.Hour, func(_ context.Context, out turn.Sink) error {
		if err := out.Chosen(turn.Report{Turn: "trn_1", Adapter: "L2"}); err != nil {
			return err
		}
		return errs.New(errs.ContextExceeded, "too long by 5", "")
	})
	if resp.StatusCode != 400 || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
}

func TestErrorBodies(t *testing.T) {
	for code, want := range map[errs.Code]string{errs.Overloaded: "rate_limit_error", errs.Forbidden: "permission_error", errs.ModelNotFound: "not_found_error",
		errs.InvalidRequest: "invalid_request_error", errs.Internal: "server_error", errs.UpstreamFailed: "server_error", errs.Unauthenticated: "authentication_error"} {
		rec := httptest.NewRecorder()
		WriteError(rec, &errs.Error{Code: code, Message: "m", Next: "n", Field: "f", Err: io.ErrClosedPipe})
		if s := rec.Body.String(); !strings.Contains(s, `"type":"`+want+`"`) || !strings.Contains(s, `"m: n"`) || strings.Contains(s, "closed pipe") || rec.Code != code.Status() {
			t.Errorf("%s gives %d %s", code, rec.Code, s)
		}
	}
}
