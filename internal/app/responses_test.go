package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/wire/sse"
)

// call sends a request to the Responses API and gives the status and the text of the answer.
func (s *site) call(method, path string, body any) (int, string) {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequest(method, s.base+path, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := s.http.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// respond asks for a response that must come.
func (s *site) respond(body object) object {
	s.t.Helper()
	code, text := s.call("POST", "/v1/responses", body)
	if code != 200 {
		s.t.Fatalf("%d %s", code, text)
	}
	return decoded(s.t, text)
}

func decoded(t *testing.T, text string) object {
	t.Helper()
	var o object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	return o
}

func input(items any) object { return object{"model": "macaron", "input": items} }

func after(id any, items any) object {
	return object{"model": "macaron", "input": items, "previous_response_id": id}
}

// outputText joins the texts of a response's output.
func outputText(o object) string {
	var b strings.Builder
	for _, i := range at[[]any](o, "output") {
		for _, p := range at[[]any](i, "content") {
			b.WriteString(at[string](p, "text"))
		}
	}
	return b.String()
}

// events reads the events of a stream, as their bytes.
func events(t *testing.T, text string) (all []string) {
	t.Helper()
	r := sse.NewReader(strings.NewReader(text), 1<<20)
	for {
		e, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		o := decoded(t, string(e.Data))
		if e.Name != o["type"] {
			t.Errorf("the event %s has the type %v", e.Name, o["type"])
		}
		all = append(all, string(e.Data))
	}
}

func types(t *testing.T, all []string) (names []string) {
	t.Helper()
	for i, e := range all {
		o := decoded(t, e)
		if at[float64](o, "sequence_number") != float64(i) {
			t.Errorf("event %d has the number %v", i, o["sequence_number"])
		}
		names = append(names, strings.TrimPrefix(at[string](o, "type"), "response."))
	}
	return names
}

// callsOf makes the engine call a function when it is asked to, until it has a result.
func callsOf(names ...string) func(context.Context, backend.Request, func(chat.Event) bool) (bool, error) {
	return func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		last := r.Messages[len(r.Messages)-1]
		if len(r.Choices) > 0 || last.Role == chat.Tool || !strings.Contains(last.Text(), "use tools") || backendtest.IsSummary(r) {
			return false, nil
		}
		calls := []chat.Event{{Reasoning: "I shall call them"}}
		for i, n := range names {
			calls = append(calls, backendtest.Call(i, "call_"+n, n, ""), chat.Event{ToolCall: &chat.ToolCallDelta{Index: i, Arguments: `{"city":`}},
				chat.Event{ToolCall: &chat.ToolCallDelta{Index: i, Arguments: ` "Paris"}`}})
		}
		backendtest.Emit(emit, calls...)
		return true, nil
	}
}

func functions(names ...string) (tools []any) {
	for _, n := range names {
		tools = append(tools, object{"type": "function", "name": n, "parameters": object{"type": "object"}})
	}
	return tools
}

// What was answered is told again from the log, byte for byte, until it is deleted.
func TestAResponseIsToldAgain(t *testing.T) {
	s, _ := scriptedSite(t)
	q := input("L1: book a table")
	q["metadata"], q["temperature"], q["instructions"], q["service_tier"] = object{"k": "v<"}, 0.5, "Be brief.", "flex"
	code, first := s.call("POST", "/v1/responses", q)
	o := decoded(t, first)
	if code != 200 || outputText(o) != "L1 heard L1: book a table" || o["status"] != "completed" || at[string](o, "metadata", "k") != "v<" || o["temperature"] != 0.5 {
		t.Fatalf("%d %s", code, first)
	}
	if at[float64](o, "usage", "input_tokens") != 20 || at[float64](o, "usage", "input_tokens_details", "cached_tokens") != 8 || at[string](o, "macaron", "adapter") != "L1" {
		t.Errorf("%v %v", o["usage"], o["macaron"])
	}
	if d := cmp.Diff([]any{"service_tier"}, at[[]any](o, "macaron", "ignored")); d != "" {
		t.Error(d)
	}
	id := at[string](o, "id")
	if _, again := s.call("GET", "/v1/responses/"+id, nil); again != first {
		t.Errorf("told again:\n%s", cmp.Diff(first, again))
	}
	_, list := s.call("GET", "/v1/responses/"+id+"/input_items", nil)
	if items := at[[]any](decoded(t, list), "data"); len(items) != 1 || at[string](at[[]any](items[0], "content")[0], "text") != "L1: book a table" {
		t.Error(list)
	}
	if code, text := s.call("DELETE", "/v1/responses/"+id, nil); code != 200 || at[bool](decoded(t, text), "deleted") != true {
		t.Errorf("%d %s", code, text)
	}
	for _, m := range []string{"GET", "DELETE"} {
		if code, text := s.call(m, "/v1/responses/"+id, nil); code != 404 {
			t.Errorf("%s of a deleted response: %d %s", m, code, text)
		}
	}
	code, text := s.call("POST", "/v1/responses", after(id, "and now?"))
	if code != 404 || at[string](decoded(t, text), "error", "param") != "previous_response_id" {
		t.Errorf("%d %s", code, text)
	}
}

func TestAResponseThatIsNotStoredIsNotThere(t *testing.T) {
	s, _ := scriptedSite(t)
	q := input("L1: hello")
	q["store"] = false
	id := at[string](s.respond(q), "id")
	for _, path := range []string{"/v1/responses/" + id, "/v1/responses/" + id + "/input_items", "/v1/responses/resp_x", "/v1/responses/" + id + "_1"} {
		if code, text := s.call("GET", path, nil); code != 404 {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	code, text := s.call("POST", "/v1/responses", after(id, "and now?"))
	if code != 404 {
		t.Errorf("%d %s", code, text)
	}
}

// Every event in its order and with its number; a finished response replays the same.
func TestTheEventsOfAStream(t *testing.T) {
	s, g := scriptedSite(t)
	g.On = callsOf("weather", "time")
	for name, c := range map[string]struct {
		body object
		want []string
	}{
		"text": {input("L1: 你好 wörld, longwordlongwordlongwordlongword"), []string{"created", "in_progress", "output_item.added", "content_part.added",
			"output_text.delta", "output_text.done", "content_part.done", "output_item.done", "completed"}},
		"calls": {input("L1: use tools"), []string{"created", "in_progress", "output_item.added", "content_part.added", "reasoning_text.delta", "reasoning_text.done",
			"content_part.done", "output_item.done", "output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
			"output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done", "completed"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.body["stream"], c.body["tools"] = true, functions("weather", "time")
			_, text := s.call("POST", "/v1/responses", c.body)
			live := events(t, text)
			var names []string
			for _, n := range types(t, live) { // deltas that follow each other are one here
				if len(names) == 0 || n != names[len(names)-1] || !strings.HasSuffix(n, ".delta") {
					names = append(names, n)
				}
			}
			if d := cmp.Diff(c.want, names); d != "" {
				t.Error(d)
			}
			id := at[string](decoded(t, live[0]), "response", "id")
			for _, n := range []int{-1, 0, 3, len(live) - 2, len(live) - 1} {
				path := "/v1/responses/" + id + "?stream=true"
				if n >= 0 {
					path += "&starting_after=" + string(json.RawMessage(itoa(n)))
				}
				_, again := s.call("GET", path, nil)
				if d := cmp.Diff(live[n+1:], events(t, again), cmp.Transformer("nil", func(l []string) []string { return append([]string{}, l...) })); d != "" {
					t.Errorf("after %d:\n%s", n, d)
				}
			}
		})
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// Five turns of calls and results by name; each answer is a response of its own.
func TestToolLoopByPreviousResponse(t *testing.T) {
	s, g := scriptedSite(t)
	g.On = callsOf("weather", "time")
	q := input("L2: use tools")
	q["tools"] = functions("weather", "time")
	first := s.respond(q)
	out := at[[]any](first, "output")
	if len(out) != 3 || at[string](out[1], "type") != "function_call" || at[string](out[1], "arguments") != `{"city": "Paris"}` || first["status"] != "completed" {
		t.Fatal(out)
	}
	results := []any{object{"type": "function_call_output", "call_id": "call_weather", "output": "sunny"},
		object{"type": "function_call_output", "call_id": "call_time", "output": []any{object{"type": "input_text", "text": "noon"}}}}
	second := s.respond(after(first["id"], results))
	if at[string](second, "macaron", "turn") != at[string](first, "macaron", "turn") || at[string](second, "macaron", "reason") != "sticky" || second["id"] == first["id"] {
		t.Errorf("%v then %v", first["macaron"], second["macaron"])
	}
	for _, o := range []object{first, second} {
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, again := s.call("GET", "/v1/responses/"+at[string](o, "id"), nil); cmp.Diff(decoded(t, string(text)), decoded(t, again)) != "" {
			t.Error(cmp.Diff(decoded(t, string(text)), decoded(t, again)))
		}
	}
	_, list := s.call("GET", "/v1/responses/"+at[string](second, "id")+"/input_items?order=asc&limit=1", nil)
	if l := decoded(t, list); at[bool](l, "has_more") != true || at[string](at[[]any](l, "data")[0], "call_id") != "call_weather" {
		t.Error(list)
	}
	third := s.respond(after(second["id"], "L2: thanks"))
	if last := g.Seen()[len(g.Seen())-1]; outputText(third) != "L2 heard L2: thanks" || len(last.Messages) != 7 && !backendtest.IsSummary(last) {
		t.Errorf("%s after %d messages", outputText(third), len(last.Messages))
	}
	// Another result for the first calls is a branch, which leaves the rest alone.
	branch := s.respond(after(first["id"], results))
	if at[string](branch, "macaron", "turn") == at[string](first, "macaron", "turn") {
		t.Error("a turn that has ended went on")
	}
	// One result of two, and a result of nothing.
	if code, text := s.call("POST", "/v1/responses", after(first["id"], results[:1])); code != 400 {
		t.Errorf("%d %s", code, text)
	}
	code, text := s.call("POST", "/v1/responses", after(first["id"], []any{object{"type": "function_call_output", "call_id": "call_x", "output": ""}}))
	if code != 400 || at[string](decoded(t, text), "error", "code") != "orphan_tool_turn" {
		t.Errorf("%d %s", code, text)
	}
}
