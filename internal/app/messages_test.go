package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"macaron/internal/auth"
	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/limits"
	"macaron/internal/record"
	"macaron/internal/wire/sse"
)

// message asks by the Messages API.
func (s *site) message(body any, change ...func(*http.Request)) *http.Response {
	s.t.Helper()
	return s.post(body, append([]func(*http.Request){func(r *http.Request) {
		r.URL.Path = "/v1/messages"
		r.Header.Set("Anthropic-Version", "2023-06-01")
	}}, change...)...)
}

func asking(messages ...any) object {
	return object{"model": "macaron", "max_tokens": 20, "messages": messages}
}

// streamOf reads a stream of messages: the texts joined, the names of the events, the data of the
// last message_delta.
func (s *site) streamOf(resp *http.Response) (text string, names []string, delta object) {
	s.t.Helper()
	r := sse.NewReader(resp.Body, 1<<20)
	for {
		e, err := r.Next()
		if err == io.EOF {
			return text, names, delta
		}
		if err != nil {
			s.t.Fatal(err)
		}
		var o object
		if err := json.Unmarshal(e.Data, &o); err != nil || at[string](o, "type") != e.Name {
			s.t.Fatalf("%v in %s %s", err, e.Name, e.Data)
		}
		names = append(names, e.Name)
		text += at[string](o, "delta", "text")
		if e.Name == "message_delta" {
			delta = o
			if turn := s.turnsOf(); turn[len(turn)-1].Status == record.StatusOpen {
				s.t.Error("message_delta came before the commit")
			}
		}
	}
}

// One conversation goes on whichever API it comes by: every turn finds the one before, and all
// of them are one session.
func TestTwoAPIsOneConversation(t *testing.T) {
	s, g := scriptedSite(t)
	g.On = func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		if len(r.Choices) > 0 || backendtest.IsSummary(r) || len(r.Tools) == 0 || r.Messages[len(r.Messages)-1].Role == chat.Tool {
			return false, nil
		}
		backendtest.Emit(emit, chat.Event{Text: " I look. "}, backendtest.Call(0, "a", "f", `{"x":  1}`), backendtest.Call(1, "b", "f", ``))
		return true, nil
	}
	tool := object{"name": "f", "input_schema": object{"type": "object"}}
	part := object{"type": "text", "text": "two parts"}
	var sessions, turns []string
	keep := func(o object) {
		sessions, turns = append(sessions, at[string](o, "macaron", "session")), append(turns, at[string](o, "macaron", "turn"))
	}

	o := s.object(s.post(object{"model": "macaron", "user": "ann", "messages": []any{user("L2: one")}}))
	keep(o)
	first := at[string](at[[]any](o, "choices")[0], "message", "content")

	q := asking(user("L2: one"), object{"role": "assistant", "content": []any{object{"type": "text", "text": first}}}, object{"role": "user", "content": []any{part, object{"type": "text", "text": "L1: look"}}})
	q["metadata"], q["tools"], q["system"] = object{"user_id": "ann"}, []any{tool}, "be brief"
	o = s.object(s.message(q))
	keep(o)
	content := at[[]any](o, "content")
	if len(content) != 3 || at[string](o, "stop_reason") != "tool_use" || at[float64](content[1], "input", "x") != 1 {
		t.Fatalf("%v", o)
	}

	// The results come by the other API, and then a whole history by this one.
	calls := []any{object{"id": "a", "type": "function", "function": object{"name": "f", "arguments": `{"x":1}`}}, object{"id": "b", "type": "function", "function": object{"name": "f", "arguments": `{}`}}}
	o = s.object(s.post(object{"model": "macaron", "user": "ann", "messages": []any{user("L2: one"), object{"role": "assistant", "content": first},
		object{"role": "user", "content": []any{part, object{"type": "text", "text": "L1: look"}}},
		object{"role": "assistant", "content": "I look.", "tool_calls": calls},
		object{"role": "tool", "tool_call_id": "a", "content": "1"}, object{"role": "tool", "tool_call_id": "b", "content": "2"}}}))
	keep(o)
	if turns[2] != turns[1] {
		t.Errorf("the results went to turn %s, not %s", turns[2], turns[1])
	}
	q = asking(append(q["messages"].([]any), object{"role": "assistant", "content": content},
		object{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": "a", "content": "1"}, object{"type": "tool_result", "tool_use_id": "b", "content": []any{object{"type": "text", "text": "2"}}}}},
		object{"role": "assistant", "content": at[string](at[[]any](o, "choices")[0], "message", "content")}, user("L0: thanks"))...)
	q["metadata"] = object{"user_id": "ann"}
	_, names, delta := s.streamOf(s.message(streamed(q)))
	keep(delta)
	if names[0] != "message_start" || names[len(names)-1] != "message_stop" {
		t.Errorf("events %v", names)
	}
	for _, id := range sessions {
		if id != sessions[0] || id == "" {
			t.Errorf("sessions %v", sessions)
		}
	}
	if got := s.turnsOf(); len(got) != 3 {
		t.Errorf("%d turns", len(got))
	}
}

// Both modes of both APIs give one answer, by the engine itself, and count_tokens counts what
// the prompt of a first turn has.
func TestTheMessagesAPIOnTheEngine(t *testing.T) {
	s := engineSite(t)
	q := asking(user("what now?"))
	q["model"], q["temperature"], q["system"] = "macaron/L2", 0, "be brief"
	whole := s.object(s.message(q))
	text := at[string](at[[]any](whole, "content")[0], "text")
	streamedText, _, delta := s.streamOf(s.message(streamed(q)))
	by, _ := s.answer(object{"model": "macaron/L2", "temperature": 0, "max_tokens": 20, "user": "x", "messages": []any{object{"role": "system", "content": "be brief"}, user("what now?")}}, false)
	if text == "" || streamedText != text || by != text {
		t.Errorf("%q, streamed %q, by the other API %q", text, streamedText, by)
	}
	for _, o := range []object{whole, delta} {
		u := at[object](o, "usage")
		read := u["input_tokens"].(float64) + u["cache_read_input_tokens"].(float64)
		delete(q, "max_tokens")
		counted := s.object(s.message(q, func(r *http.Request) { r.URL.Path = "/v1/messages/count_tokens" }))
		if counted["input_tokens"] != read {
			t.Errorf("counted %v, the prompt has %v", counted, u)
		}
	}
	if u := at[object](delta, "usage"); u["cache_read_input_tokens"].(float64) == 0 {
		t.Errorf("the second turn reads nothing from the cache: %v", u)
	}
}

func TestWhatTheEngineCannotDoIsRefusedInTheAPIsWords(t *testing.T) {
	s := engineSite(t)
	picture := object{"role": "user", "content": []any{object{"type": "image", "source": object{"type": "url", "url": "https://x"}}}}
	for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
		q := asking(user("x"), object{"role": "assistant", "content": "y"}, picture)
		q["system"] = "s"
		resp := s.message(q, func(r *http.Request) { r.URL.Path = path })
		o := s.object(resp)
		if resp.StatusCode != 400 || at[string](o, "error", "param") != "messages[2].content" || at[string](o, "error", "code") != "unsupported" || at[string](o, "request_id") != resp.Header.Get("Request-Id") {
			t.Errorf("%s: %d %v", path, resp.StatusCode, o)
		}
	}
	q := asking(user("x"))
	q["thinking"], q["max_tokens"] = object{"type": "enabled", "budget_tokens": 1024}, 2000
	if o := s.object(s.message(q)); fmt.Sprint(at[any](o, "macaron", "ignored")) != "[thinking]" {
		t.Errorf("%v", o)
	}
}

// A client that leaves, at any event, frees the engine's slot and leaves an interrupted turn.
func TestALeftMessageFreesTheEngine(t *testing.T) {
	s, g := scriptedSite(t)
	slow(g, 1<<30)
	for _, at := range []int{0, 1, 2, 3, 9, 60} {
		ctx, leave := context.WithCancel(t.Context())
		resp := s.message(streamed(asking(user("L2: count"))), func(r *http.Request) { *r = *r.WithContext(ctx) })
		events := sse.NewReader(resp.Body, 1<<20)
		for range at {
			if _, err := events.Next(); err != nil {
				t.Fatal(err)
			}
		}
		leave()
		resp.Body.Close()
		if turn := s.settled(); turn.Status != record.StatusInterrupted || turn.Reason != "canceled" {
			t.Errorf("after event %d: %s, %s", at, turn.Status, turn.Reason)
		}
		if n := g.Running(); n != 0 {
			t.Errorf("after event %d: %d slots taken", at, n)
		}
	}
}

// Where two APIs share a path, and where no handler is reached, the answer has the shape of the
// API that was asked for.
func TestEachAPIIsAnsweredInItsOwnShape(t *testing.T) {
	s, _ := scriptedSite(t)
	version := func(r *http.Request) { r.Header.Set("Anthropic-Version", "2023-06-01") }
	get := func(path string, change ...func(*http.Request)) (int, object) {
		r, err := http.NewRequest(http.MethodGet, s.base+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range change {
			f(r)
		}
		resp, err := s.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode, s.object(resp)
	}
	if _, o := get("/v1/models"); at[string](o, "object") != "list" {
		t.Errorf("%v", o)
	}
	if _, o := get("/v1/models?limit=2", version); len(at[[]any](o, "data")) != 2 || !at[bool](o, "has_more") || at[string](o, "first_id") != "macaron" || at[string](o, "last_id") != "macaron/L0" {
		t.Errorf("%v", o)
	}
	if _, o := get("/v1/models?after_id=macaron/L0&limit=9", version); len(at[[]any](o, "data")) != 3 || at[bool](o, "has_more") {
		t.Errorf("%v", o)
	}
	if _, o := get("/v1/models?before_id=macaron/L3&limit=1", version); at[string](o, "last_id") != "macaron/L2" || !at[bool](o, "has_more") {
		t.Errorf("%v", o)
	}
	if code, o := get("/v1/models?limit=0", version); code != 400 || at[string](o, "error", "param") != "limit" {
		t.Errorf("%d %v", code, o)
	}
	if _, o := get("/v1/models/macaron/L2", version); at[string](o, "type") != "model" || at[string](o, "display_name") == "" || !strings.HasSuffix(at[string](o, "created_at"), "Z") {
		t.Errorf("%v", o)
	}
	for path, change := range map[string]func(*http.Request){
		"/v1/models/gpt-4": version, "/v1/nothing": version, "/v1/messages": func(*http.Request) {}, "/v1/messages/batches": func(*http.Request) {},
		"/v1/models": func(r *http.Request) { version(r); r.Host = "example.org" },
	} {
		code, o := get(path, change)
		if at[string](o, "type") != "error" || at[string](o, "error", "type") == "" || at[string](o, "request_id") == "" || code < 400 {
			t.Errorf("%s gives %d %v", path, code, o)
		}
	}
}

// Keys are refused, and limits told, in the API's own shape and types.
func TestKeysInTheMessagesAPI(t *testing.T) {
	k, secrets := keyedSite(t, map[string]auth.Key{"good": {}, "revoked": {}, "reader": {Scopes: []auth.Scope{auth.Read}}, "limited": {Limits: limits.Quota{Requests: 1}}})
	secrets["none"], secrets["wrong"] = "", auth.NewSecret()
	body := `{"model":"macaron","max_tokens":9,"messages":[{"role":"user","content":"L2: x"}]}`
	for _, c := range []struct {
		who    string
		status int
		kind   string
	}{
		{"none", 401, "authentication_error"}, {"wrong", 401, "authentication_error"}, {"revoked", 401, "authentication_error"}, {"reader", 403, "permission_error"},
		{"good", 200, ""}, {"limited", 200, ""}, {"limited", 429, "rate_limit_error"},
	} {
		resp, text := k.send("POST", "/v1/messages", body, with("x-api-key", secrets[c.who]))
		var o object
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != c.status || at[string](o, "error", "type") != c.kind || resp.Header.Get("Request-Id") == "" {
			t.Errorf("%s gets %d %s", c.who, resp.StatusCode, text)
		}
		if c.status == 429 && resp.Header.Get("Retry-After") == "" {
			t.Errorf("%s is not told when to come again", c.who)
		}
	}
}

// Below an engine of its own: tokens are counted by it, and the stop string that it met is told.
func TestTheMessagesAPIOverAnEngineServer(t *testing.T) {
	below := serveEngine(t, nil)
	for _, dialect := range []string{"macaron", "vllm", "auto", "plain"} {
		cfg := settings(t, t.TempDir())
		cfg.Upstream.URL, cfg.Upstream.Dialect, cfg.Upstream.Models = below.base+"/v1", dialect, map[string]string{"L2": "one"}
		text := strings.ReplaceAll(strings.ReplaceAll(tinyContract, `"L3", "L2", "L1", "L0"`, `"L2"`), `"L0"`, `"L2"`) +
			"[[adapters]]\nname = \"L2\"\ntitle = \"B\"\nsource = \"model:y\"\ndescription = \"d\"\nprompt = \"p\"\n"
		if err := os.WriteFile(cfg.Contract, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := start(t, cfg, nil)
		q := asking(user("what now?"))
		q["temperature"] = 0
		whole := s.object(s.message(q))
		said := at[string](at[[]any](whole, "content")[0], "text")
		resp := s.message(q, func(r *http.Request) { r.URL.Path = "/v1/messages/count_tokens" })
		counted, u := s.object(resp), at[object](whole, "usage")
		if dialect == "plain" {
			if resp.StatusCode != 400 || at[string](counted, "error", "code") != "unsupported" {
				t.Errorf("%s: %v", dialect, counted)
			}
			continue
		}
		if counted["input_tokens"] != u["input_tokens"].(float64)+u["cache_read_input_tokens"].(float64) {
			t.Errorf("%s: counted %v, the prompt has %v", dialect, counted, u)
		}
		runes := []rune(said)
		stop := string(runes[len(runes)/2])
		q["stop_sequences"] = []any{stop}
		if o := s.object(s.message(q)); at[string](o, "stop_reason") != "stop_sequence" || at[string](o, "stop_sequence") != stop {
			t.Errorf("%s: %q in %q gives %v", dialect, stop, said, o)
		}
	}
}
