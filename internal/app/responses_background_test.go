package app

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/obs"
	"macaron/internal/record"
	"macaron/internal/wire/responses"
)

// told makes the engine say one word at a time, when told to.
func told(words chan string) func(context.Context, backend.Request, func(chat.Event) bool) (bool, error) {
	return func(ctx context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		if len(r.Choices) > 0 || backendtest.IsSummary(r) {
			return false, nil
		}
		emit(chat.Event{Start: &chat.Start{PromptTokens: 10}})
		for {
			select {
			case w, more := <-words:
				if !more {
					emit(chat.Event{Finish: &chat.Finish{Reason: chat.FinishStop, Usage: chat.Usage{PromptTokens: 10, OutputTokens: 3}}})
					return true, nil
				}
				emit(chat.Event{Text: w})
			case <-ctx.Done():
				return true, ctx.Err()
			}
		}
	}
}

// A response in the background goes on without its client, can be watched from any event
// on, and tells the same afterwards.
func TestABackgroundResponseIsWatchedAndResumed(t *testing.T) {
	s, g := scriptedSite(t)
	words := make(chan string)
	g.On = told(words)
	q := input("L1: think")
	q["background"] = true
	o := s.respond(q)
	id := at[string](o, "id")
	if o["status"] != "queued" || o["background"] != true {
		t.Fatal(o)
	}
	words <- "one "
	words <- "two "
	if _, text := s.call("GET", "/v1/responses/"+id, nil); at[string](decoded(t, text), "status") != "in_progress" {
		t.Error(text)
	}
	if code, text := s.call("POST", "/v1/responses", after(id, "too early")); code != 400 {
		t.Errorf("%d %s", code, text)
	}
	resp, err := s.http.Get(s.base + "/v1/responses/" + id + "?stream=true&starting_after=1")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	go func() { words <- "three"; close(words) }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	live := events(t, string(b))
	_, again := s.call("GET", "/v1/responses/"+id+"?stream=true", nil)
	replay := events(t, again)
	if names := types(t, replay); names[1] != "queued" || names[len(names)-1] != "completed" {
		t.Error(names)
	}
	if d := cmp.Diff(replay[2:], live); d != "" {
		t.Error(d)
	}
	if _, text := s.call("GET", "/v1/responses/"+id, nil); outputText(decoded(t, text)) != "one two three" {
		t.Error(text)
	}
}

func TestABackgroundResponseIsCancelled(t *testing.T) {
	s, g := scriptedSite(t)
	words := make(chan string)
	g.On = told(words)
	q := input("L1: think")
	q["background"] = true
	id := at[string](s.respond(q), "id")
	words <- "one "
	for range 2 {
		code, text := s.call("POST", "/v1/responses/"+id+"/cancel", nil)
		if code != 200 || at[string](decoded(t, text), "status") != "cancelled" {
			t.Errorf("%d %s", code, text)
		}
	}
	if turn := s.settled(); turn.Status != record.StatusInterrupted || g.Running() != 0 {
		t.Errorf("%s, %d running", turn.Status, g.Running())
	}
	g.On = nil
	done := s.respond(input("L1: hi"))
	if code, text := s.call("POST", "/v1/responses/"+at[string](done, "id")+"/cancel", nil); code != 400 {
		t.Errorf("%d %s", code, text)
	}
}

// A client that leaves a stream ends its turn, as everywhere.
func TestAClientThatLeavesAStream(t *testing.T) {
	s, g := scriptedSite(t)
	words := make(chan string)
	g.On = told(words)
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", s.base+"/v1/responses", strings.NewReader(`{"model":"macaron","input":"L1: think","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := s.http.Do(r)
	if err == nil {
		defer resp.Body.Close()
	}
	leave()
	if turn := s.settled(); turn.Status != record.StatusInterrupted || turn.Reason != "canceled" {
		t.Errorf("%s %s", turn.Status, turn.Reason)
	}
	_ = words
}

// Another tenant has none of it, and another user of the tenant cannot go on with it.
func TestAResponseOfSomebodyElseIsNotThere(t *testing.T) {
	s, _ := scriptedSite(t)
	q := input("L1: hi")
	q["user"] = "ann"
	id := at[string](s.respond(q), "id")
	_, text := s.call("POST", "/v1/conversations", object{})
	conv := at[string](decoded(t, text), "id")
	api := responses.New(responses.Deps{Turns: s.turns, Log: s.sessions, Owner: func(*http.Request) string { return "bob" }, Logger: obs.Discard(), Failed: func(string) {}})
	defer api.Close(t.Context())
	for _, c := range [][3]string{
		{"GET", "/v1/responses/" + id}, {"GET", "/v1/responses/" + id + "?stream=true"}, {"DELETE", "/v1/responses/" + id}, {"POST", "/v1/responses/" + id + "/cancel"},
		{"GET", "/v1/responses/" + id + "/input_items"}, {"GET", "/v1/conversations/" + conv}, {"DELETE", "/v1/conversations/" + conv}, {"GET", "/v1/conversations/" + conv + "/items"},
		{"POST", "/v1/responses", `{"model":"macaron","input":"x","previous_response_id":"` + id + `"}`},
		{"POST", "/v1/responses", `{"model":"macaron","input":"x","conversation":"` + conv + `"}`},
		{"POST", "/v1/responses", `{"model":"macaron","input":[{"type":"item_reference","id":"` + strings.Replace(id, "resp", "msg", 1) + `_0"}]}`},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(c[0], c[1], strings.NewReader(c[2]))
		r.Header.Set("Content-Type", "application/json")
		api.ServeHTTP(w, r)
		if w.Code != 404 {
			t.Errorf("%v: %d %s", c, w.Code, w.Body)
		}
	}
	q = after(id, "L1: go on")
	q["user"] = "bob"
	if code, text := s.call("POST", "/v1/responses", q); code != 404 {
		t.Errorf("%d %s", code, text)
	}
	s.respond(after(id, "L1: go on"))
}

func TestConversations(t *testing.T) {
	s, g := scriptedSite(t)
	_, text := s.call("POST", "/v1/conversations", object{"metadata": object{"topic": "x"}})
	conv := decoded(t, text)
	id := at[string](conv, "id")
	if at[string](conv, "metadata", "topic") != "x" {
		t.Fatal(text)
	}
	g.On = callsOf("weather")
	for i, items := range []any{"L1: one", "L1: use tools", []any{object{"type": "function_call_output", "call_id": "call_weather", "output": "sunny"}}, "L1: four"} {
		q := input(items)
		q["conversation"], q["tools"] = id, functions("weather")
		if i > 1 {
			q["conversation"] = object{"id": id}
		}
		if o := s.respond(q); at[string](o, "conversation", "id") != id || "conv_"+strings.TrimPrefix(at[string](o, "macaron", "session"), "ses_") != id {
			t.Errorf("%v %v", o["conversation"], o["macaron"])
		}
	}
	_, text = s.call("GET", "/v1/conversations/"+id+"/items?order=asc", nil)
	var kinds []string
	for _, i := range at[[]any](decoded(t, text), "data") {
		kinds = append(kinds, at[string](i, "type")+" "+at[string](i, "role"))
	}
	want := []string{"message user", "message assistant", "message user", "reasoning ", "function_call ", "function_call_output ", "message assistant", "message user", "message assistant"}
	if d := cmp.Diff(want, kinds); d != "" {
		t.Error(d)
	}
	if code, text := s.call("DELETE", "/v1/conversations/"+id, nil); code != 200 {
		t.Errorf("%d %s", code, text)
	}
	q := input("L1: five")
	q["conversation"] = id
	if code, text := s.call("POST", "/v1/responses", q); code != 404 {
		t.Errorf("%d %s", code, text)
	}
	if code, _ := s.call("GET", "/v1/conversations/"+id, nil); code != 404 {
		t.Error(code)
	}
}

// A client that keeps its items itself, and one that only refers to them.
func TestHistoryByItemsAndByReference(t *testing.T) {
	s, g := scriptedSite(t)
	g.On = callsOf("weather")
	q := input("L1: use tools")
	q["tools"] = functions("weather")
	first := s.respond(q)
	question, result := object{"role": "user", "content": "L1: use tools"}, object{"type": "function_call_output", "call_id": "call_weather", "output": "sunny"}
	whole := append(append([]any{question}, at[[]any](first, "output")...), result)
	refs := []any{question}
	for _, o := range at[[]any](first, "output") {
		refs = append(refs, object{"type": "item_reference", "id": at[string](o, "id")})
	}
	for _, items := range [][]any{whole, append(refs, result)} {
		o := s.respond(input(items))
		if at[string](o, "macaron", "reason") != "sticky" || outputText(o) != "L1 heard sunny" {
			t.Errorf("%v %s", o["macaron"], outputText(o))
		}
	}
}

// The events of one running response cannot fill the memory, and a stop waits for those that run.
func TestAStopEndsWhatRunsInTheBackground(t *testing.T) {
	g := &backendtest.Scripted{}
	words := make(chan string)
	g.On = told(words)
	cfg := settings(t, t.TempDir())
	a, err := New(cfg, Options{Version: "test", Log: obs.Discard(), Generator: g, Drain: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, a)
	q := input("L1: think")
	q["background"] = true
	id := at[string](s.respond(q), "id")
	words <- "one " // it runs
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	g.On = nil
	again := start(t, cfg, g)
	if _, text := again.call("GET", "/v1/responses/"+id, nil); at[string](decoded(t, text), "status") != "cancelled" {
		t.Error(text)
	}
}
