package app

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/config"
	"macaron/internal/obs"
	"macaron/internal/obs/obstest"
)

// traced starts a site that sends its spans to a receiver; change may alter the settings.
func traced(t *testing.T, g backend.Generator, change func(*config.Config)) (*site, *obstest.Receiver, *safe) {
	t.Helper()
	to, told := obstest.Start(t), &safe{}
	cfg := settings(t, t.TempDir())
	cfg.Traces = config.Traces{Endpoint: to.URL, Exporter: "otlp"}
	if change != nil {
		change(&cfg)
	}
	a, err := New(cfg, Options{Version: "v-test", Log: obs.NewLog(told, "debug", "json"), Generator: g})
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, a), to, told
}

const (
	parentTrace = "0af7651916cd43dd8448eb211c80319c"
	parentSpan  = "b7ad6b7169203331"
)

func fromParent(r *http.Request) {
	r.Header.Set("Traceparent", "00-"+parentTrace+"-"+parentSpan+"-01")
	r.Header.Set("X-Request-Id", "req-of-the-test")
}

// spansOf sorts what came by what it is: the turn, and each hop.
func spansOf(t *testing.T, all []obstest.Span) map[string]obstest.Span {
	t.Helper()
	out := map[string]obstest.Span{}
	for _, s := range all {
		name := "turn"
		if hop, _ := s.Attr("macaron.hop").(string); hop != "" {
			name = hop
		}
		if _, twice := out[name]; twice {
			t.Errorf("two spans of %s", name)
		}
		out[name] = s
	}
	return out
}

// summarised waits until the last turn has its summary, so that its span is there.
func (s *site) summarised() {
	s.t.Helper()
	s.until("the last turn has a summary", func() bool {
		turns := s.turnsOf()
		return turns[len(turns)-1].SummarySource != ""
	})
}

func TestATurnIsOneTraceWithASpanAHop(t *testing.T) {
	s, to, told := traced(t, &backendtest.Scripted{}, nil)
	resp := s.post(ask(user("L2: a private sentence")), fromParent)
	if got := resp.Header.Get("X-Request-Id"); got != "req-of-the-test" {
		t.Errorf("the answer's request id is %q", got)
	}
	o := s.object(resp)
	s.summarised()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	spans := spansOf(t, to.Spans())
	turn := spans["turn"]
	if len(spans) != 4 || hex.EncodeToString(turn.ParentSpanId) != parentSpan {
		t.Fatalf("%d kinds of spans, the turn's parent is %x", len(spans), turn.ParentSpanId)
	}
	for name, span := range spans {
		if hex.EncodeToString(span.TraceId) != parentTrace {
			t.Errorf("%s is in the trace %x", name, span.TraceId)
		}
		if name != "turn" && string(span.ParentSpanId) != string(turn.SpanId) {
			t.Errorf("%s is not under its turn", name)
		}
	}
	id := at[string](o, "macaron", "turn")
	checkAttrs(t, turn, map[string]any{
		"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "macaron", "macaron.request.id": "req-of-the-test", "macaron.turn.id": id,
		"gen_ai.conversation.id": at[string](o, "macaron", "session"), "macaron.turn.status": "delivered", "macaron.adapter": "L2", "macaron.tenant": "local",
		"macaron.route.reason": "model", "gen_ai.usage.input_tokens": int64(at[float64](o, "usage", "prompt_tokens")),
	})
	answer := spans["answer"]
	checkAttrs(t, answer, map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.request.model": "L2", "macaron.request.id": "req-of-the-test", "gen_ai.response.finish_reasons": []any{"stop"},
		"gen_ai.conversation.id": at[string](o, "macaron", "session"),
	})
	checkAttrs(t, spans["route"], map[string]any{"macaron.route.label": "L2", "macaron.request.id": "req-of-the-test"})
	checkAttrs(t, spans["summary"], map[string]any{"macaron.turn.id": id, "gen_ai.request.model": "L2"})
	if turn.Resource["service.name"] != "macaron" || turn.Resource["service.version"] != "v-test" || !strings.HasSuffix(turn.Schema, "/1.41.0") {
		t.Errorf("resource %v, schema %s", turn.Resource, turn.Schema)
	}
	for _, private := range []string{"private sentence", "heard"} {
		if strings.Contains(to.Bytes(), private) {
			t.Errorf("%q is in the spans", private)
		}
	}
	if !strings.Contains(told.String(), `"trace":"`+parentTrace+`"`) || !strings.Contains(told.String(), `"request":"req-of-the-test"`) {
		t.Errorf("the log does not tell trace and request: %s", told.String())
	}
}

func checkAttrs(t *testing.T, s obstest.Span, want map[string]any) {
	t.Helper()
	for key, v := range want {
		if diff := cmp.Diff(v, s.Attr(key)); diff != "" {
			t.Errorf("%s of %q: %s", key, s.Name, diff)
		}
	}
}

// With the switch, spans have the conversation in the convention's JSON, without what looks like
// a credential.
func TestContentStandsInSpansOnRequest(t *testing.T) {
	s, to, _ := traced(t, &backendtest.Scripted{}, func(c *config.Config) { c.Traces.Content = true })
	s.object(s.post(ask(user("L2: my key is sk-canary0content"))))
	s.summarised()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	answer := spansOf(t, to.Spans())["answer"]
	var in, out []struct {
		Role  string
		Parts []struct{ Type, Content string }
	}
	for key, into := range map[string]any{"gen_ai.input.messages": &in, "gen_ai.output.messages": &out} {
		text, _ := answer.Attr(key).(string)
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%s: %v in %q", key, err, text)
		}
	}
	last := in[len(in)-1]
	if last.Role != "user" || last.Parts[0].Content != "L2: my key is [redacted]" || out[0].Role != "assistant" || !strings.HasPrefix(out[0].Parts[0].Content, "L2 heard") {
		t.Errorf("in %+v, out %+v", last, out)
	}
	if strings.Contains(to.Bytes(), "canary") {
		t.Error("a credential is in the spans")
	}
}

// A failed turn's span says so, by code, and the call to the engine carries the trace.
func TestEnginesGetTheTrace(t *testing.T) {
	seen := make(chan http.Header, 100)
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			seen <- r.Header
		}
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":{"message":"private words"}}`)
	}))
	t.Cleanup(engine.Close)
	s, to, _ := traced(t, nil, func(c *config.Config) {
		c.Upstream = config.Upstream{URL: engine.URL + "/v1", Dialect: "openai", Timeout: time.Minute}
	})
	s.post(object{"model": "macaron/L2", "messages": []any{user("x")}}, fromParent)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	spans := spansOf(t, to.Spans())
	answer, turn := spans["answer"], spans["turn"]
	want := "00-" + parentTrace + "-" + hex.EncodeToString(answer.SpanId) + "-01"
	if got := (<-seen).Get("Traceparent"); got != want {
		t.Errorf("the engine got %q, want %q", got, want)
	}
	for _, span := range []obstest.Span{answer, turn} {
		if span.Attr("error.type") != "invalid_request" || span.Status.GetCode() != 2 {
			t.Errorf("%s: %v, %v", span.Name, span.Attr("error.type"), span.Status)
		}
	}
	if strings.Contains(to.Bytes(), "private words") {
		t.Error("the engine's words are in the spans")
	}
}

// Off is the default: no header, no field in the log.
func TestWithoutAnEndpointNothingIsTraced(t *testing.T) {
	s, g := scriptedSite(t)
	if s.tracer != nil || s.mark() != nil || s.turnTracer() != nil || s.seen(g) != g {
		t.Error("there is a tracer")
	}
}

// A receiver that is not there costs neither answers nor the stop.
func TestAnAbsentReceiverHarmsNothing(t *testing.T) {
	s, _, told := traced(t, &backendtest.Scripted{}, func(c *config.Config) { c.Traces.Endpoint = "http://127.0.0.1:9/v1/traces" })
	if resp := s.post(ask(user("L2: x"))); resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(told.String(), `"msg":"traces"`) {
		t.Errorf("nobody is told: %s", told.String())
	}
}
