package anthropic

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/obs"
	"macaron/internal/turn"
	"macaron/internal/wire/sse"
)

// acting is a turn whose events a test gives.
type acting func(ctx context.Context, q turn.Request, out turn.Sink) error

func (f acting) Run(ctx context.Context, q turn.Request, out turn.Sink) error { return f(ctx, q, out) }

func (acting) Count(_ context.Context, q turn.Request) (int, error) {
	if q.Owner != "ann" {
		return 0, errors.New("no owner")
	}
	return len(q.Messages), nil
}

var told = turn.Report{Turn: "trn_1", Session: "ses_1", Adapter: "L2", Revision: "sha256:aa", Reason: "model", Probabilities: map[string]float64{"L0": 0.25, "L2": 0.75}, Contract: "sha256:bb",
	Ignored: []string{"reasoning_effort", "tools[0].function.strict"}, Hops: []turn.HopReport{{Hop: "route", Adapter: "L0", PromptTokens: 7, CachedTokens: 4, OutputTokens: 1}}}

// everything is a turn with each kind of event.
func everything(_ context.Context, _ turn.Request, out turn.Sink) error {
	if err := out.Chosen(told); err != nil {
		return err
	}
	for _, e := range []chat.Event{
		{Start: &chat.Start{PromptTokens: 3, CachedTokens: 1}},
		{Reasoning: "h"}, {Reasoning: "m"},
		{Text: "Hi <b>"}, {Text: "."},
		{ToolCall: &chat.ToolCallDelta{Index: 0, ID: "c1", Name: "f"}},
		{ToolCall: &chat.ToolCallDelta{Index: 0, Arguments: `{"a"`}},
		{ToolCall: &chat.ToolCallDelta{Index: 0, Arguments: `:1}`}},
		{ToolCall: &chat.ToolCallDelta{Index: 1, ID: "c2", Name: "g"}},
	} {
		if err := out.Event(e); err != nil {
			return err
		}
	}
	r := told
	r.Hops = append(r.Hops[:1:1], turn.HopReport{Hop: "answer", Adapter: "L2", PromptTokens: 3, CachedTokens: 1, OutputTokens: 2, FirstMS: 1.5, TotalMS: 2})
	return out.Done(r, chat.FinishTools, chat.Usage{PromptTokens: 10, CachedTokens: 5, OutputTokens: 3})
}

const (
	report = `"macaron":{"turn":"trn_1","session":"ses_1","adapter":"L2","revision":"sha256:aa","reason":"model","probabilities":{"L0":0.25,"L2":0.75},"contract":"sha256:bb","hops":[{"hop":"route","adapter":"L0","prompt_tokens":7,"cached_tokens":4,"output_tokens":1,"first_ms":0,"total_ms":0},{"hop":"answer","adapter":"L2","prompt_tokens":3,"cached_tokens":1,"output_tokens":2,"first_ms":1.5,"total_ms":2}],"ignored":["service_tier","thinking","tools[0].strict"]}`
	spent  = `"usage":{"input_tokens":5,"cache_creation_input_tokens":0,"cache_read_input_tokens":5,"output_tokens":3}`
)

func serve(t *testing.T, act acting, path, body string, o ...func(*Deps)) (*http.Response, string) {
	t.Helper()
	resp := open(t, act, path, body, o...)
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

// open is serve whose answer is still to be read.
func open(t *testing.T, act acting, path, body string, o ...func(*Deps)) *http.Response {
	t.Helper()
	d := Deps{Turns: act, Owner: func(*http.Request) string { return "ann" }, Clock: &clock.Fixed{T: time.Unix(1, 0)}, Log: obs.Discard(), Failed: func(string) {}}
	for _, f := range o {
		f(&d)
	}
	h := Handler(d)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "req_1")
		Speak(h).ServeHTTP(w, r)
	}))
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() { client.CloseIdleConnections(); srv.Close() })
	resp, err := client.Post(srv.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.Header.Get("Request-Id") != "req_1" {
		t.Errorf("headers %v", resp.Header)
	}
	return resp
}

const asked = `{"model":"macaron","max_tokens":5000,"service_tier":"auto","thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"x"}]`

func TestTheStreamByteForByte(t *testing.T) {
	event := func(name, data string) string { return "event: " + name + "\ndata: " + data }
	want := []string{
		event("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"macaron","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"cache_creation_input_tokens":0,"cache_read_input_tokens":5,"output_tokens":1}}}`),
		event("ping", `{"type":"ping"}`),
		event("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`),
		event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"h"}}`),
		event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m"}}`),
		event("content_block_stop", `{"type":"content_block_stop","index":0}`),
		event("content_block_start", `{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`),
		event("content_block_delta", `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hi \u003cb\u003e"}}`),
		event("content_block_delta", `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"."}}`),
		event("content_block_stop", `{"type":"content_block_stop","index":1}`),
		event("content_block_start", `{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c1","name":"f","input":{}}}`),
		event("content_block_delta", `{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\""}}`),
		event("content_block_delta", `{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":":1}"}}`),
		event("content_block_stop", `{"type":"content_block_stop","index":2}`),
		event("content_block_start", `{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"c2","name":"g","input":{}}}`),
		event("content_block_stop", `{"type":"content_block_stop","index":3}`),
		event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},`+spent+`,`+report+`}`),
		event("message_stop", `{"type":"message_stop"}`),
		"",
	}
	resp, got := serve(t, everything, "/v1/messages", asked+`,"stream":true}`)
	if d := cmp.Diff(want, strings.Split(got, "\n\n")); d != "" {
		t.Error(d)
	}
	if resp.Header.Get("X-Macaron-Adapter") != "L2" || resp.Header.Get("X-Macaron-Probability") != "0.7500" || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%v", resp.Header)
	}
}

func TestTheWholeByteForByte(t *testing.T) {
	want := `{"id":"msg_1","type":"message","role":"assistant","model":"macaron","content":[{"type":"thinking","thinking":"hm","signature":""},{"type":"text","text":"Hi \u003cb\u003e."},` +
		`{"type":"tool_use","id":"c1","name":"f","input":{"a":1}},{"type":"tool_use","id":"c2","name":"g","input":{}}],"stop_reason":"tool_use","stop_sequence":null,` + spent + "," + report + "}\n"
	resp, got := serve(t, everything, "/v1/messages", asked+`}`)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if resp.Header.Get("X-Macaron-Turn") != "trn_1" {
		t.Errorf("%v", resp.Header)
	}
	if _, hidden := serve(t, everything, "/v1/messages", strings.Replace(asked, `1024`, `1024,"display":"omitted"`, 1)+`}`); strings.Contains(hidden, `"type":"thinking"`) {
		t.Errorf("thinking is shown in %s", hidden)
	}
}

func TestEveryEnd(t *testing.T) {
	for _, c := range []struct {
		why  chat.FinishReason
		stop string
		want string
	}{
		{chat.FinishStop, "", `"stop_reason":"end_turn","stop_sequence":null`},
		{chat.FinishStop, "END", `"stop_reason":"stop_sequence","stop_sequence":"END"`},
		{chat.FinishLength, "", `"stop_reason":"max_tokens","stop_sequence":null`},
		{chat.FinishFilter, "", `"stop_reason":"refusal","stop_sequence":null`},
	} {
		act := func(_ context.Context, _ turn.Request, out turn.Sink) error {
			r := told
			r.Stop = c.stop
			return errors.Join(out.Chosen(told), out.Done(r, c.why, chat.Usage{}))
		}
		for _, mode := range []string{"}", `,"stream":true}`} {
			if _, got := serve(t, act, "/v1/messages", asked+mode); !strings.Contains(got, c.want) || strings.Contains(got, `"stop":`) {
				t.Errorf("%v gives %s", c, got)
			}
		}
	}
}

// A prompt that takes long to read gets its status line and pings all the same; an
// error after that is the last event, and there is exactly one end.
func TestALongSilenceIsKeptAlive(t *testing.T) {
	heard := make(chan struct{})
	act := func(ctx context.Context, _ turn.Request, out turn.Sink) error {
		if err := out.Chosen(told); err != nil {
			return err
		}
		select {
		case <-heard:
		case <-ctx.Done():
		}
		return errs.New(errs.UpstreamFailed, "no answer", "")
	}
	resp := open(t, act, "/v1/messages", asked+`,"stream":true}`, func(d *Deps) {
		d.Patience, d.Stream = 10*time.Millisecond, sse.Options{Heartbeat: 20 * time.Millisecond}
	})
	const ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n"
	got, in := "", bufio.NewReader(resp.Body)
	for err := error(nil); err == nil; {
		var line string
		before := strings.Count(got, ping)
		line, err = in.ReadString('\n')
		if got += line; before == 1 && strings.Count(got, ping) == 2 {
			close(heard)
		}
	}
	last := `event: error` + "\n" + `data: {"type":"error","error":{"type":"api_error","message":"no answer","code":"upstream_failed"},"request_id":"req_1"}` + "\n\n"
	if resp.StatusCode != 200 || strings.Count(got, "event: message_start\n") != 1 || strings.Count(got, ping) < 2 || !strings.HasSuffix(got, last) || strings.Contains(got, "message_stop") {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
}

func TestAnErrorInTimeHasItsStatus(t *testing.T) {
	act := func(_ context.Context, _ turn.Request, out turn.Sink) error {
		if err := out.Chosen(told); err != nil {
			return err
		}
		return errs.New(errs.Unsupported, "messages[0].content has a part of the kind image", "").In("messages[0].content")
	}
	body := `{"model":"macaron","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"b"}]}]}`
	resp, got := serve(t, act, "/v1/messages", strings.Replace(body, `"max_tokens"`, `"system":"s","max_tokens"`, 1))
	if want := `{"type":"error","error":{"type":"invalid_request_error","message":"system.content has a part of the kind image","code":"unsupported","param":"system.content"},"request_id":"req_1"}` + "\n"; resp.StatusCode != 400 || got != want {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
}

func TestErrorBodies(t *testing.T) {
	for code, want := range map[errs.Code]struct {
		kind   string
		status int
	}{
		errs.Overloaded: {"overloaded_error", 529}, errs.Forbidden: {"permission_error", 403}, errs.ModelNotFound: {"not_found_error", 404}, errs.TooLarge: {"request_too_large", 413},
		errs.InvalidRequest: {"invalid_request_error", 400}, errs.Internal: {"api_error", 500}, errs.UpstreamFailed: {"api_error", 502}, errs.Unauthenticated: {"authentication_error", 401}, errs.StorageFull: {"api_error", 507},
	} {
		rec := httptest.NewRecorder()
		WriteError(rec, &errs.Error{Code: code, Message: "m", Next: "n", Field: "f", RetryAfter: time.Second, Err: io.ErrClosedPipe})
		if s := rec.Body.String(); !strings.Contains(s, `"error":{"type":"`+want.kind+`","message":"m: n"`) || strings.Contains(s, "closed pipe") || rec.Code != want.status || rec.Header().Get("Retry-After") != "1" {
			t.Errorf("%s gives %d %s", code, rec.Code, s)
		}
	}
}

func TestCounting(t *testing.T) {
	if _, got := serve(t, everything, "/v1/messages/count_tokens", `{"model":"macaron","system":"s","speed":"fast","messages":[{"role":"user","content":"x"}]}`); got != `{"input_tokens":2,"macaron":{"ignored":["speed"]}}`+"\n" {
		t.Error(got)
	}
	if resp, got := serve(t, everything, "/v1/messages/batches", `{}`); resp.StatusCode != 404 || !strings.Contains(got, `"type":"not_found_error"`) {
		t.Error(got)
	}
}
