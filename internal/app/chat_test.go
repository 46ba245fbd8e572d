package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
)

func TestTheWholeAnswer(t *testing.T) {
	s, _ := scriptedSite(t)
	q := ask(user("L2: write a loop"))
	q["metadata"], q["store"], q["user"] = object{"k": "v"}, true, "ann"
	resp := s.post(q)
	o := s.object(resp)
	if resp.StatusCode != 200 || at[string](o, "object") != "chat.completion" || !strings.HasPrefix(at[string](o, "id"), "chatcmpl-") {
		t.Fatalf("%d %v", resp.StatusCode, o)
	}
	choice := at[[]any](o, "choices")[0]
	if at[string](choice, "message", "content") != "L2 heard L2: write a loop" || at[string](choice, "finish_reason") != "stop" {
		t.Errorf("choice %v", choice)
	}
	m := at[object](o, "macaron")
	if at[string](m, "adapter") != "L2" || at[string](m, "reason") != "model" || at[float64](m, "probabilities", "L2") != 0.9 || len(at[[]any](m, "hops")) != 2 {
		t.Errorf("macaron %v", m)
	}
	if fmt.Sprint(m["ignored"]) != "[store]" || at[string](m, "metadata", "k") != "v" {
		t.Errorf("ignored %v, metadata %v", m["ignored"], m["metadata"])
	}
	u := at[object](o, "usage")
	if u["prompt_tokens"] != 20.0 || at[float64](u, "prompt_tokens_details", "cached_tokens") != 8 || u["total_tokens"] != 20.0+u["completion_tokens"].(float64) {
		t.Errorf("usage %v", u)
	}
	for name, want := range map[string]string{"X-Macaron-Adapter": "L2", "X-Macaron-Reason": "model", "X-Macaron-Probability": "0.9000",
		"X-Macaron-Turn": at[string](m, "turn"), "X-Macaron-Session": at[string](m, "session"), "X-Macaron-Revision": at[string](m, "revision")} {
		if got := resp.Header.Get(name); got != want || got == "" {
			t.Errorf("%s is %q", name, got)
		}
	}
	if resp.Header.Get("X-Request-Id") == "" || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Error("headers are missing")
	}
}

func TestTheStreamInDetail(t *testing.T) {
	s, _ := scriptedSite(t)
	q := streamed(ask(user("L1: book a table")))
	q["stream_options"] = object{"include_usage": true}
	resp := s.post(q)
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" || resp.Header.Get("X-Macaron-Adapter") != "L1" {
		t.Errorf("headers %v", resp.Header)
	}
	chunks, last := s.chunks(resp)
	if last != "[DONE]" {
		t.Errorf("the last event is %q", last)
	}
	first := at[[]any](chunks[0], "choices")[0]
	if at[string](first, "delta", "role") != "assistant" || at[any](first, "finish_reason") != nil {
		t.Errorf("first chunk %v", chunks[0])
	}
	if said(chunks) != "L1 heard L1: book a table" {
		t.Errorf("said %q", said(chunks))
	}
	n := len(chunks)
	finish, sum := at[[]any](chunks[n-2], "choices")[0], chunks[n-1]
	if at[string](finish, "finish_reason") != "stop" || at[string](chunks[n-2], "macaron", "adapter") != "L1" {
		t.Errorf("finish chunk %v", chunks[n-2])
	}
	if len(at[[]any](sum, "choices")) != 0 || at[float64](sum, "usage", "prompt_tokens") != 20 {
		t.Errorf("usage chunk %v", sum)
	}
	for i, c := range chunks[:n-2] {
		raw, _ := json.Marshal(c)
		if !strings.Contains(string(raw), `"finish_reason":null`) || at[string](c, "id") != at[string](sum, "id") {
			t.Errorf("chunk %d: %s", i, raw)
		}
	}
}

func TestToolCallsInBothModes(t *testing.T) {
	s, g := scriptedSite(t)
	g.On = func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		if len(r.Choices) > 0 || backendtest.IsSummary(r) || r.Messages[len(r.Messages)-1].Role == chat.Tool {
			return false, nil
		}
		backendtest.Emit(emit, backendtest.Call(0, "a", "f", `{"x"`), chat.Event{ToolCall: &chat.ToolCallDelta{Index: 0, Arguments: `:1}`}}, backendtest.Call(1, "b", "g", `{}`))
		return true, nil
	}
	q := ask(user("L1: go"))
	q["tools"] = []any{object{"type": "function", "function": object{"name": "f"}}, object{"type": "function", "function": object{"name": "g"}}}
	whole := at[[]any](s.object(s.post(q)), "choices")[0]
	calls := at[[]any](whole, "message", "tool_calls")
	if at[string](whole, "finish_reason") != "tool_calls" || len(calls) != 2 || at[string](calls[0], "function", "arguments") != `{"x":1}` || at[any](whole, "message", "content") != nil {
		t.Errorf("whole %v", whole)
	}
	chunks, _ := s.chunks(s.post(streamed(q)))
	args := map[float64]string{}
	for _, c := range chunks {
		for _, choice := range at[[]any](c, "choices") {
			for _, call := range at[[]any](choice, "delta", "tool_calls") {
				args[at[float64](call, "index")] += at[string](call, "function", "arguments")
			}
		}
	}
	if args[0] != `{"x":1}` || args[1] != `{}` {
		t.Errorf("streamed %v", args)
	}
	// The results come back, and the turn goes on.
	q["messages"] = []any{user("L1: go"), object{"role": "assistant", "content": nil, "tool_calls": calls},
		object{"role": "tool", "tool_call_id": "a", "content": "1"}, object{"role": "tool", "tool_call_id": "b", "content": "2"}}
	o := s.object(s.post(q))
	if at[string](o, "macaron", "reason") != "sticky" || at[string](o, "macaron", "adapter") != "L1" {
		t.Errorf("%v", o)
	}
	// One call an answer, when that is asked for; wishes that the engine cannot
	// fulfil are told.
	q["messages"], q["parallel_tool_calls"], q["reasoning_effort"] = []any{user("L1: go")}, false, "low"
	one := s.object(s.post(q))
	if calls := at[[]any](at[[]any](one, "choices")[0], "message", "tool_calls"); len(calls) != 1 || fmt.Sprint(at[[]any](one, "macaron", "ignored")) != "[reasoning_effort]" {
		t.Errorf("%v", one)
	}
	q["tool_choice"] = "required"
	if o := s.object(s.post(q)); at[string](o, "error", "param") != "tool_choice" {
		t.Errorf("%v", o)
	}
}

// base is a good body with more fields.
func base(extra string) string {
	return `{"model":"macaron","messages":[{"role":"user","content":"x"}]` + extra + `}`
}

// badBodies are bodies with the field that is at fault.
var badBodies = map[string]string{
	base(`,"max_tokens":10.0`):             "max_tokens",
	base(`,"max_tokens":"12"`):             "max_tokens",
	base(`,"max_tokens":0`):                "max_tokens",
	base(`,"max_tokens":-5`):               "max_tokens",
	base(`,"temperature":"hot"`):           "temperature",
	base(`,"temperature":NaN`):             "temperature",
	base(`,"temperature":2.5`):             "temperature",
	base(`,"top_p":-1`):                    "top_p",
	base(`,"n":2`):                         "n",
	base(`,"logit_bias":{"50256":-100}`):   "logit_bias",
	base(`,"functions":[]`):                "functions",
	base(`,"stream":"yes"`):                "stream",
	base(`,"stop":[""]`):                   "stop[0]",
	base(`,"stop":[1]`):                    "stop[0]",
	base(`,"seed":1.5`):                    "seed",
	base(`,"top_logprobs":3`):              "top_logprobs",
	base(`,"tools":[{"type":"web"}]`):      "tools[0].type",
	base(`,"tool_choice":"required"`):      "tool_choice",
	base(`,"response_format":{"type":1}`):  "response_format.type",
	base(`,"metadata":{"a":1}`):            "metadata.a",
	base(`,"macaron":{"session":"ses_1"}`): "macaron.session",
	base(`,"macaron":{"route":"L2"}`):      "macaron.route",
	`{"model":"macaron","messages":[{"role":"wizard","content":"x"}]}`:                                  "messages[0].role",
	`{"model":"macaron","messages":[{"role":"user","content":123}]}`:                                    "messages[0].content",
	`{"model":"macaron","messages":[{"role":"user","content":[{"type":"a"}]}]}`:                         "messages[0].content[0].type",
	`{"model":"macaron","messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`: "messages[1].role",
	`{"model":"macaron","messages":"x"}`:                                                                "messages",
	`{"model":"macaron","messages":[]}`:                                                                 "messages",
	`{"model":"macaron"}`:                                                                               "messages",
	`{"messages":[{"role":"user","content":"x"}]}`:                                                      "model",
	`{"model":"macaron","model":"macaron"}`:                                                             "model",
}

// B17, B20 and the fields that are not honoured: 400 with the field's name, in both modes.
func TestBadRequestsNameTheirFieldB17B20(t *testing.T) {
	s, g := scriptedSite(t)
	for body, field := range badBodies {
		for _, mode := range []string{"", `,"stream":true`} {
			if strings.Contains(body, `"stream"`) && mode != "" {
				continue
			}
			resp := s.post(strings.TrimSuffix(body, "}") + mode + "}")
			o := s.object(resp)
			if resp.StatusCode != 400 || at[string](o, "error", "param") != field || at[string](o, "error", "message") == "" {
				t.Errorf("%s gives %d %v, want %s", body, resp.StatusCode, o, field)
			}
		}
	}
	if len(g.Seen()) != 0 {
		t.Error("a bad request reached the engine")
	}
	for _, tc := range []struct {
		body   string
		status int
		code   string
	}{
		{`{"model":"gpt-4","stream":true,"messages":[{"role":"user","content":"x"}]}`, 404, "model_not_found"},
		{`{"model":"macaron/L9","messages":[{"role":"user","content":"x"}]}`, 404, "adapter_not_found"},
		{`{"model":"macaron","messages":[{"role":"tool","tool_call_id":"c","content":"x"}]}`, 400, "orphan_tool_turn"},
		{`{"model":"macaron","messages":[{"role":"user","content":"` + strings.Repeat("x", 9<<20) + `"}]}`, 413, "too_large"},
	} {
		resp := s.post(tc.body)
		if o := s.object(resp); resp.StatusCode != tc.status || at[string](o, "error", "code") != tc.code {
			t.Errorf("%.60s gives %d %v", tc.body, resp.StatusCode, o)
		}
	}
	plain := s.post(base(""), func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
	if plain.StatusCode != 400 {
		t.Errorf("text/plain gives %d", plain.StatusCode)
	}
}

// B11: a routing hiccup is a fall-back; the engine's refusal before the first byte is
// a real status with its Retry-After; after the first byte it is the last event.
func TestEngineErrorsAsClientsSeeThemB11(t *testing.T) {
	busy := errs.New(errs.Overloaded, "busy", "")
	busy.RetryAfter = 3 * time.Second
	t.Run("route", func(t *testing.T) {
		s, g := scriptedSite(t)
		g.On = func(_ context.Context, r backend.Request, _ func(chat.Event) bool) (bool, error) {
			return len(r.Choices) > 0, map[bool]error{true: busy}[len(r.Choices) > 0]
		}
		if o := s.object(s.post(ask(user("L2: x")))); at[string](o, "macaron", "reason") != "fallback" || at[string](o, "macaron", "adapter") != "L0" || at[string](o, "macaron", "cause") != "overloaded" {
			t.Errorf("%v", o)
		}
	})
	t.Run("before the first byte", func(t *testing.T) {
		s, g := scriptedSite(t)
		g.On = func(_ context.Context, r backend.Request, _ func(chat.Event) bool) (bool, error) {
			return len(r.Choices) == 0, map[bool]error{true: busy}[len(r.Choices) == 0]
		}
		for _, mode := range []bool{false, true} {
			q := ask(user("L2: x"))
			q["stream"] = mode
			if resp := s.post(q); resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "3" {
				t.Errorf("stream %v gives %d, %v", mode, resp.StatusCode, resp.Header)
			}
		}
	})
	t.Run("after the first byte", func(t *testing.T) {
		s, g := scriptedSite(t)
		g.On = func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
			if len(r.Choices) > 0 {
				return false, nil
			}
			emit(chat.Event{Start: &chat.Start{}})
			emit(chat.Event{Text: "half"})
			return true, errs.New(errs.UpstreamFailed, "the engine broke off", "")
		}
		resp := s.post(streamed(ask(user("L2: x"))))
		chunks, last := s.chunks(resp)
		if resp.StatusCode != 200 || said(chunks) != "half" || !strings.Contains(last, `"code":"upstream_failed"`) {
			t.Errorf("%d, %q, then %s", resp.StatusCode, said(chunks), last)
		}
		if turn := s.settled(); turn.Status != record.StatusInterrupted {
			t.Errorf("status %s", turn.Status)
		}
	})
}

func TestLogprobsStopAndForcedModels(t *testing.T) {
	s, g := scriptedSite(t)
	var sent backend.Request
	g.On = func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		if backendtest.IsSummary(r) {
			return false, nil
		}
		sent = r
		backendtest.Emit(emit, chat.Event{Text: "é", Tokens: []chat.TokenLogprob{{ID: 5, Bytes: []byte("é"), Logprob: -0.5, Top: []chat.TokenLogprob{{Bytes: []byte{0xff}, Logprob: -1}}}}})
		return true, nil
	}
	q := object{"model": "macaron/L3", "messages": []any{object{"role": "developer", "content": "be brief"}, user("x")},
		"logprobs": true, "top_logprobs": 1, "stop": "END", "seed": 7, "temperature": 0, "max_completion_tokens": 9}
	o := s.object(s.post(q))
	lp := at[[]any](at[[]any](o, "choices")[0], "logprobs", "content")
	if len(lp) != 1 || at[float64](lp[0], "logprob") != -0.5 || fmt.Sprint(at[[]any](lp[0], "bytes")) != "[195 169]" || len(at[[]any](lp[0], "top_logprobs")) != 1 {
		t.Errorf("logprobs %v", lp)
	}
	if at[string](o, "macaron", "reason") != "forced" || at[string](o, "model") != "macaron/L3" {
		t.Errorf("%v", o)
	}
	if sent.MaxTokens != 9 || *sent.Sampling.Seed != 7 || *sent.Sampling.Temperature != 0 || sent.Sampling.Stop[0] != "END" || *sent.Sampling.TopP != 0.9 ||
		!strings.HasSuffix(sent.Messages[0].Text(), "be brief") || sent.Revision.Name != "L3" {
		t.Errorf("sent %+v", sent)
	}
	chunks, _ := s.chunks(s.post(streamed(q)))
	if at[[]any](at[[]any](chunks[1], "choices")[0], "logprobs", "content") == nil {
		t.Errorf("chunk %v", chunks[1])
	}
}

func TestModels(t *testing.T) {
	s, _ := scriptedSite(t)
	_, body := s.get("/v1/models")
	for _, id := range []string{`"macaron"`, `"macaron/L0"`, `"macaron/L3"`} {
		if !strings.Contains(body, `"id":`+id) {
			t.Errorf("no %s in %s", id, body)
		}
	}
	if code, body := s.get("/v1/models/macaron/L2"); code != 200 || !strings.Contains(body, `"id":"macaron/L2"`) {
		t.Errorf("%d %s", code, body)
	}
	if code, body := s.get("/v1/models/gpt-4"); code != 404 || !strings.Contains(body, "model_not_found") {
		t.Errorf("%d %s", code, body)
	}
}

func TestAnExplicitSessionKeepsItsSiblings(t *testing.T) {
	s, _ := scriptedSite(t)
	first := s.object(s.post(ask(user("L2: one"))))
	id := at[string](first, "macaron", "session")
	again := s.object(s.post(ask(user("L1: one, edited")), func(r *http.Request) { r.Header.Set("X-Macaron-Session", id) }))
	if at[string](again, "macaron", "session") != id || len(s.turnsOf()) != 2 {
		t.Errorf("%v", again)
	}
	other := ask(user("L1: x"))
	other["macaron"] = object{"session": "ses_01ARZ3NDEKTSV4RRFFQ69G5FAV"}
	if resp := s.post(other); resp.StatusCode != 404 {
		t.Errorf("an unknown session gives %d", resp.StatusCode)
	}
}
