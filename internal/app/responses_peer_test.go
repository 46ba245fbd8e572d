package app

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// B8: a result and then the user's words, to another specialist: no result without its call.
func TestB8_ResponsesOrphanNoToolMessage(t *testing.T) {
	s, g := scriptedSite(t)
	g.On = callsOf("weather")
	q := input("L1: use tools")
	q["tools"] = functions("weather")
	first := s.respond(q)
	s.respond(after(first["id"], []any{object{"type": "function_call_output", "call_id": "call_weather", "output": "sunny"}, object{"role": "user", "content": "L2: write it down"}}))
	for _, r := range g.Seen() {
		calls := map[string]bool{}
		for _, m := range r.Messages {
			for _, c := range m.ToolCalls {
				calls[c.ID] = true
			}
			if m.Role == chat.Tool && !calls[m.ToolCallID] {
				t.Errorf("%s got the result of %s without its call", r.Revision.Name, m.ToolCallID)
			}
		}
	}
}

// B10: what a client brings along is seen by every specialist, not only by the first.
func TestB10_ImportedHistoryIsSeenByAll(t *testing.T) {
	s, g := scriptedSite(t)
	first := s.respond(input([]any{object{"role": "user", "content": "my name is Ann"}, object{"role": "assistant", "content": "hello Ann"}, object{"role": "user", "content": "L2: write"}}))
	s.respond(after(first["id"], "L1: book"))
	var views []string
	for _, r := range g.Seen() {
		if len(r.Choices) == 0 && !backendtest.IsSummary(r) {
			var b strings.Builder
			for _, m := range r.Messages {
				b.WriteString(m.Text() + "|")
			}
			views = append(views, b.String())
		}
	}
	if len(views) != 2 {
		t.Fatal(views)
	}
	for _, v := range views {
		if !strings.Contains(v, "|my name is Ann|hello Ann|L2: write|") {
			t.Errorf("a view without the history: %s", v)
		}
	}
}

// B12: a stream checks the model as the whole answer does.
func TestB12_StreamChecksTheModel(t *testing.T) {
	s, _ := scriptedSite(t)
	for _, model := range []string{"gpt-4", "macaron/L9"} {
		for _, stream := range []bool{false, true} {
			if code, text := s.call("POST", "/v1/responses", object{"model": model, "input": "hi", "stream": stream}); code != 404 {
				t.Errorf("%s, stream %t: %d %s", model, stream, code, text)
			}
		}
	}
}

// B13: an error has the same code, words and status, streamed or not.
func TestB13_ErrorsAreEqualStreamedOrNot(t *testing.T) {
	s, g := scriptedSite(t)
	g.On = func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		text := r.Messages[len(r.Messages)-1].Text()
		if len(r.Choices) > 0 || !strings.Contains(text, "break") {
			return false, nil
		}
		if strings.Contains(text, "late") {
			emit(chat.Event{Text: "half a "})
		}
		return true, errs.New(errs.UpstreamFailed, "the engine broke", "send it again")
	}
	var bodies []string
	for _, stream := range []bool{false, true} {
		q := input("L1: break")
		q["stream"] = stream
		code, text := s.call("POST", "/v1/responses", q)
		if code != 502 {
			t.Errorf("stream %t: %d", stream, code)
		}
		bodies = append(bodies, text)
	}
	if bodies[0] != bodies[1] || !strings.Contains(bodies[0], "the engine broke: send it again") {
		t.Errorf("%s and %s", bodies[0], bodies[1])
	}
	q := input("L1: break late")
	q["stream"] = true
	_, text := s.call("POST", "/v1/responses", q)
	all := events(t, text)
	last := decoded(t, all[len(all)-1])
	if last["type"] != "response.failed" || at[string](last, "response", "error", "message") != "the engine broke: send it again" || at[string](last, "response", "error", "code") != "upstream_failed" {
		t.Error(all[len(all)-1])
	}
	types(t, all)
	id := at[string](last, "response", "id")
	_, again := s.call("GET", "/v1/responses/"+id+"?stream=true", nil)
	if d := cmp.Diff(all[:len(all)-1], events(t, again)[:len(all)-1]); d != "" {
		t.Error(d)
	}
	if code, text := s.call("POST", "/v1/responses", after(id, "go on")); code != 400 {
		t.Errorf("a failed response was followed: %d %s", code, text)
	}
}

// B17: numbers are whole where they must be, formats are kept to or refused, metadata stays.
func TestB17_NothingIsDroppedOrMadeUp(t *testing.T) {
	s, _ := scriptedSite(t)
	for field, value := range map[string]any{
		"max_output_tokens": json.RawMessage("10.0"), "temperature": "hot", "tools": []any{object{"type": "web_search"}}, "n": nil,
		"text": object{"format": object{"type": "json_schema", "name": "x", "schema": object{"type": "object"}}}, "top_logprobs": 2,
	} {
		q := input("L1: hi")
		q[field] = value
		code, text := s.call("POST", "/v1/responses", q)
		if want := 400; field != "n" && (code != want || !strings.HasPrefix(at[string](decoded(t, text), "error", "param"), field)) {
			t.Errorf("%s: %d %s", field, code, text)
		}
	}
	q := input("L1: hi")
	q["n"], q["metadata"] = 2, object{"b": "1", "a": "2"}
	o := s.respond(q)
	if d := cmp.Diff([]any{"n"}, at[[]any](o, "macaron", "ignored")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]any{"b": "1", "a": "2"}, at[map[string]any](o, "metadata")); d != "" {
		t.Error(d)
	}
}
