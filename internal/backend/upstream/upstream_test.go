package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server that behaves as scripted.
func serve(t *testing.T, h http.HandlerFunc) *Backend {
	t.Helper()
	return patient(t, time.Minute, h)
}

// patient is serve with a longest silence.
func patient(t *testing.T, silence time.Duration, h http.HandlerFunc) *Backend {
	t.Helper()
	srv := httptest.NewServer(h)
	b := New(Config{URL: srv.URL + "/v1", Key: "sk-canary", Models: map[string]string{"L2": "coder"}, Timeout: silence})
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close(); _ = b.Close() })
	return b
}

func ask(name string) backend.Request {
	return backend.Request{Messages: []chat.Message{chat.Text(chat.User, "hi")}, Revision: adapter.Revision{Name: name}, MaxTokens: 16}
}

func collect(ctx context.Context, b *Backend, r backend.Request) (*backend.Collected, error) {
	all := &backend.Collected{}
	for e, err := range b.Generate(ctx, r) {
		if err != nil {
			return all, err
		}
		all.Add(e)
	}
	return all, nil
}

func stream(lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, l := range lines {
			_, _ = io.WriteString(w, "data: "+l+"\n\n")
		}
	}
}

const (
	hello  = `{"choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}`
	lo     = `{"choices":[{"index":0,"delta":{"content":"lo 你"},"finish_reason":null}]}`
	end    = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	tokens = `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}`
)

func TestAnswersInEveryForm(t *testing.T) {
	split := strings.Join([]string{"data: " + hello, "data: " + lo, "data: " + end, "data: " + tokens, "data: [DONE]", ""}, "\r\n\r\n")
	for name, h := range map[string]http.HandlerFunc{
		"stream":       stream(hello, lo, end, tokens, "[DONE]"),
		"without DONE": stream(hello, lo, end, tokens),
		"crlf, byte by byte": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			for i := range len(split) {
				_, _ = w.Write([]byte{split[i]})
				w.(http.Flusher).Flush()
			}
		},
		"whole": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello 你","tool_calls":[]},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}`)
		},
		"empty tool calls": stream(`{"choices":[{"delta":{"content":"Hello 你","tool_calls":[]}}]}`, end, tokens, "[DONE]"),
		"list content":     stream(`{"choices":[{"delta":{"content":[{"type":"text","text":"Hello 你"}]}}]}`, end, tokens, "[DONE]"),
		"other end name":   stream(hello, lo, `{"choices":[{"delta":{},"finish_reason":"eos"}]}`, tokens, "[DONE]"),
	} {
		t.Run(name, func(t *testing.T) {
			all, err := collect(t.Context(), serve(t, h), ask("L2"))
			if err != nil {
				t.Fatal(err)
			}
			if all.Text() != "Hello 你" || all.Finish.Reason != chat.FinishStop || len(all.Message().ToolCalls) != 0 {
				t.Errorf("got %q, %+v", all.Text(), all.Finish)
			}
			if u := all.Finish.Usage; u.PromptTokens != 9 || u.OutputTokens != 2 || u.CachedTokens != 4 || u.Total <= 0 {
				t.Errorf("usage %+v", u)
			}
		})
	}
}

func TestToolCallsHoweverTheyCome(t *testing.T) {
	want := []chat.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g", Arguments: `{}`}}
	for name, h := range map[string]http.HandlerFunc{
		"indexed pieces": stream(
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}`,
			`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]"),
		"no index, finish stop": stream(
			`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":":1}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"g","arguments":"{}"}}]}}]}`,
			end, "[DONE]"),
		"objects": stream(
			`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":1}}},{"id":"b","function":{"name":"g","arguments":{}}}]}}]}`,
			end, "[DONE]"),
	} {
		all, err := collect(t.Context(), serve(t, h), ask("L2"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(want, all.Message().ToolCalls); d != "" || all.Finish.Reason != chat.FinishTools {
			t.Errorf("%s: %s %s", name, all.Finish.Reason, d)
		}
	}
	all, err := collect(t.Context(), serve(t, stream(`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}]}`, end)), ask("L2"))
	if err != nil || !strings.HasPrefix(all.Message().ToolCalls[0].ID, "call_") {
		t.Errorf("a call without id gets none: %+v, %v", all.Message().ToolCalls, err)
	}
}

func status(code int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if header != "" {
			w.Header().Set("Retry-After", header)
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// A 404 is about the model's name or about the address, and what to do differs. The bodies
// are those of vLLM, FastAPI, llama-server, net/http and OpenRouter.
func TestWhatIsNotFound(t *testing.T) {
	for body, address := range map[string]bool{
		`{"object":"error","message":"The model ` + "`mol-L2`" + ` does not exist.","type":"NotFoundError"}`: false,
		`{"error":{"message":"No endpoints found for mol-L2.","code":404}}`:                                  false,
		`{"detail":"Not Found"}`:                 true,
		`{"error":{"message":"File Not Found"}}`: true,
		"404 page not found\n":                   true,
		``:                                       true,
	} {
		b := serve(t, status(404, "", body))
		_, err := collect(t.Context(), b, ask("mol-L2"))
		e := errs.As(err)
		if e == nil || e.Code != errs.UpstreamFailed || strings.Contains(e.Message, "has nothing at "+b.URL) != address || strings.Contains(e.Next, "/v1") != address {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestFaults(t *testing.T) {
	huge := `{"choices":[{"delta":{"content":"` + strings.Repeat("x", maxEvent) + `"}}]}`
	for name, tc := range map[string]struct {
		h    http.HandlerFunc
		code errs.Code
	}{
		"401 is ours": {status(401, "", `{"error":{"message":"bad key"}}`), errs.UpstreamFailed},
		"403 is ours": {status(403, "", ``), errs.UpstreamFailed},
		"404 is ours": {status(404, "", `{"object":"error","message":"The model x does not exist."}`), errs.UpstreamFailed},
		"429, long":   {status(429, "30", ``), errs.Overloaded},
		"503":         {status(503, "", `busy`), errs.UpstreamUnavailable},
		"500":         {status(500, "", `boom`), errs.UpstreamFailed},
		"400":         {status(400, "", `{"error":{"message":"top_k is wrong"}}`), errs.InvalidRequest},
		"context":     {status(400, "", `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`), errs.ContextExceeded},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/x", http.StatusFound)
		}, errs.UpstreamFailed},
		"200, error": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"error":{"message":"overloaded","type":"overloaded_error"}}`)
		}, errs.Overloaded},
		"200, html":           {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `<html>`) }, errs.UpstreamFailed},
		"200, empty":          {func(http.ResponseWriter, *http.Request) {}, errs.UpstreamFailed},
		"error event":         {stream(hello, `{"error":{"message":"out of memory","code":500}}`), errs.UpstreamFailed},
		"error text event":    {stream(`{"error":"no slot"}`), errs.UpstreamFailed},
		"vllm error event":    {stream(`{"object":"error","message":"too long: maximum context length","code":400}`), errs.ContextExceeded},
		"garbage event":       {stream(hello, `{"choi`), errs.UpstreamFailed},
		"invalid UTF-8 event": {stream(hello, "\xff\xfe"), errs.UpstreamFailed},
		"cut":                 {stream(hello, lo), errs.UpstreamFailed},
		"DONE without end":    {stream(hello, "[DONE]"), errs.UpstreamFailed},
		"abort":               {stream(hello, `{"choices":[{"delta":{},"finish_reason":"abort"}]}`), errs.UpstreamFailed},
		"giant event":         {stream(huge), errs.UpstreamFailed},
		"silence": {func(w http.ResponseWriter, r *http.Request) {
			stream(hello)(w, r)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, errs.UpstreamUnavailable},
		"no headers": {func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() }, errs.UpstreamUnavailable},
		"reset": {func(w http.ResponseWriter, r *http.Request) {
			stream(hello)(w, r)
			w.(http.Flusher).Flush()
			c, _, _ := w.(http.Hijacker).Hijack()
			_ = c.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		}, errs.UpstreamUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			silence := time.Minute
			if name == "silence" || name == "no headers" { // what ends it is that
				silence = 300 * time.Millisecond
			}
			b := patient(t, silence, tc.h)
			all, err := collect(t.Context(), b, ask("L2"))
			e := errs.As(err)
			if e == nil || e.Code != tc.code {
				t.Fatalf("got %v, want %s", err, tc.code)
			}
			if all.Finish != nil {
				t.Error("a failed answer has an end")
			}
			if strings.Contains(e.Error(), "canary") {
				t.Errorf("the key shows in %s", e.Error())
			}
		})
	}
}

func TestRetryAfterIsKept(t *testing.T) {
	_, err := collect(t.Context(), serve(t, status(429, "30", "")), ask("L2"))
	if e := errs.As(err); e.RetryAfter != 30*time.Second {
		t.Errorf("got %v", e.RetryAfter)
	}
}

func TestAShortFailureIsTriedAgainAndALongOneIsNot(t *testing.T) {
	for _, tc := range []struct {
		status, header string
		fails, want    int32
	}{{"503", "", 2, 3}, {"503", "", 9, 3}, {"429", "0", 1, 2}, {"429", "60", 9, 1}, {"500", "", 9, 1}, {"400", "", 9, 1}} {
		var n atomic.Int32
		var code int
		_, _ = fmt.Sscan(tc.status, &code)
		b := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) <= tc.fails {
				status(code, tc.header, "")(w, r)
				return
			}
			stream(hello, end)(w, r)
		})
		_, err := collect(t.Context(), b, ask("L2"))
		if n.Load() != tc.want || (err == nil) != (tc.fails < tc.want) {
			t.Errorf("%+v: %d tries, %v", tc, n.Load(), err)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	b := New(Config{URL: "http://127.0.0.1:1/v1"})
	defer b.Close()
	if _, err := collect(t.Context(), b, ask("L2")); errs.CodeOf(err) != errs.UpstreamUnavailable || errs.As(err).Next == "" {
		t.Errorf("got %v", err)
	}
	if err := b.Ready(t.Context()); errs.CodeOf(err) != errs.UpstreamUnavailable {
		t.Errorf("got %v", err)
	}
}

func TestReadyTellsAWrongKeyFromAGoodServer(t *testing.T) {
	if err := serve(t, status(401, "", "")).Ready(t.Context()); errs.CodeOf(err) != errs.UpstreamFailed {
		t.Errorf("got %v", err)
	}
	if err := serve(t, status(200, "", "{}")).Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheCallerStopsTheServer(t *testing.T) {
	gone := make(chan struct{})
	b := serve(t, func(w http.ResponseWriter, r *http.Request) {
		stream(hello)(w, r)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	for e, err := range b.Generate(t.Context(), ask("L2")) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Text != "" {
			break
		}
	}
	<-gone
	ctx, cancel := context.WithCancel(t.Context())
	b2 := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	if _, err := collect(ctx, b2, ask("L2")); errs.CodeOf(err) != errs.Canceled {
		t.Errorf("got %v", err)
	}
}

func TestTheRequestAsSent(t *testing.T) {
	var sent map[string]any
	var auth string
	b := serve(t, func(w http.ResponseWriter, r *http.Request) {
		auth = r.Header.Get("Authorization")
		_ = json.NewDecoder(r.Body).Decode(&sent)
		stream(hello, end)(w, r)
	})
	r := ask("L2")
	half, five := 0.5, int64(5)
	r.Sampling = chat.Sampling{Temperature: &half, Seed: &five, Stop: []string{"x"}}
	r.Messages = append(r.Messages,
		chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{{ID: "a", Name: "f", Arguments: `{"k": 1}`}}},
		chat.Message{Role: chat.Tool, ToolCallID: "a", Parts: []chat.Part{{Kind: "text", Text: "r"}}},
		chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: "text", Text: "see"}, {Kind: "image", Raw: json.RawMessage(`{"type":"image_url","image_url":{"url":"data:x"}}`)}}})
	r.Tools = []chat.ToolDef{{Name: "f", Parameters: json.RawMessage(`{"type":"object"}`)}}
	r.ToolChoice = chat.ToolChoice{Mode: "function", Name: "f", Single: true}
	if _, err := collect(t.Context(), b, r); err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	_ = json.Unmarshal([]byte(`{"model":"coder","stream":true,"stream_options":{"include_usage":true},"max_tokens":16,"temperature":0.5,"seed":5,"stop":["x"],
		"messages":[{"role":"user","content":"hi"},
			{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"k\": 1}"}}]},
			{"role":"tool","content":"r","tool_call_id":"a"},
			{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:x"}}]}],
		"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],
		"tool_choice":{"type":"function","function":{"name":"f"}},"parallel_tool_calls":false}`), &want)
	if d := cmp.Diff(want, sent); d != "" || auth != "Bearer sk-canary" {
		t.Error(d, auth)
	}
}

func TestModelNames(t *testing.T) {
	b := New(Config{URL: "http://x/v1", Models: map[string]string{"L2": "coder"}})
	for want, r := range map[string]adapter.Revision{"coder": {Name: "L2", Source: "model:other"}, "other": {Name: "L1", Source: "model:other"}, "L3": {Name: "L3", Source: "adapters/L3"}} {
		if got, err := b.ModelOf(r); err != nil || got != want {
			t.Errorf("%+v is %q, %v", r, got, err)
		}
	}
	if _, err := b.ModelOf(adapter.Revision{}); errs.CodeOf(err) != errs.Unsupported {
		t.Errorf("the base gives %v", err)
	}
}
