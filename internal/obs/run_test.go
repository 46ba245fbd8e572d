package obs_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"macaron/internal/adapter"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/obs"
	"macaron/internal/obs/obstest"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

// spans writes a run and reads it with OpenTelemetry's protobufs. Ids, which are hex in OTLP's
// JSON, come back as hex.
func spans(t *testing.T, r *transcript.Run, content bool) ([]obstest.Span, string) {
	t.Helper()
	text, err := obs.RunOTLP(r, obs.RunOptions{Content: content, Version: "v-test"})
	if err != nil {
		t.Fatal(err)
	}
	var m collector.ExportTraceServiceRequest
	if err := protojson.Unmarshal(text, &m); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	var out []obstest.Span
	for _, s := range m.ResourceSpans[0].ScopeSpans[0].Spans {
		s.TraceId, s.SpanId, s.ParentSpanId = id(t, s.TraceId, 16), id(t, s.SpanId, 8), id(t, s.ParentSpanId, 8)
		out = append(out, obstest.Span{Span: s})
	}
	return out, string(text)
}

func id(t *testing.T, b []byte, n int) []byte {
	t.Helper()
	if len(b) == 0 {
		return nil
	}
	raw, err := hex.DecodeString(base64.StdEncoding.EncodeToString(b))
	if err != nil || len(raw) != n {
		t.Errorf("%x is no id of %d bytes: %v", b, n, err)
	}
	return raw
}

// tree names each span by its parent's and its own name, and checks ids and times on the way.
func tree(t *testing.T, all []obstest.Span) []string {
	t.Helper()
	by := map[string]obstest.Span{}
	for _, s := range all {
		if _, twice := by[string(s.SpanId)]; twice || !bytes.Equal(s.TraceId, all[0].TraceId) {
			t.Errorf("%s has the id of another span, or is of another trace", s.Name)
		}
		by[string(s.SpanId)] = s
	}
	var out []string
	for i, s := range all {
		parent, found := by[string(s.ParentSpanId)]
		if found == (i == 0) {
			t.Errorf("%s has the parent %x", s.Name, s.ParentSpanId)
		}
		if found && (s.StartTimeUnixNano < parent.StartTimeUnixNano || s.EndTimeUnixNano > parent.EndTimeUnixNano) || s.StartTimeUnixNano > s.EndTimeUnixNano || s.StartTimeUnixNano == 0 {
			t.Errorf("%s goes from %d to %d under one from %d to %d", s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano, parent.GetStartTimeUnixNano(), parent.GetEndTimeUnixNano())
		}
		out = append(out, strings.TrimPrefix(parent.GetName()+" > "+s.Name, " > "))
	}
	return out
}

func TestSpansOfStoredRuns(t *testing.T) {
	const root = "invoke_agent macaron"
	chat, cell := root+" > chat A", root+" > execute_tool run_python"
	look, effect := "execute_tool run_python > execute_tool look", "execute_tool run_python > execute_tool effect"
	for name, want := range map[string][]string{
		"code":      {root, chat, cell, look, effect, chat, cell, effect, effect, chat, cell, chat},
		"functions": {root, chat, root + " > execute_tool look", root + " > execute_tool effect", chat, root + " > execute_tool effect", chat, root + " > execute_tool keep", chat, chat},
	} {
		run, records := stored(t, name)
		all, text := spans(t, run, false)
		if diff := cmp.Diff(want, tree(t, all)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if _, again := spans(t, run, false); compact(t, again) != compact(t, text) {
			t.Errorf("%s is another text the second time", name)
		}
		last := records[len(records)-1].Time.UnixNano()
		if s := all[0]; s.Attr("macaron.run.id") != run.Head.Run || s.Attr("gen_ai.usage.input_tokens") != int64(run.Totals.Usage.PromptTokens) || s.EndTimeUnixNano != uint64(last) {
			t.Errorf("%s: the root is %v", name, s)
		}
		if s := all[1]; s.Attr("gen_ai.usage.output_tokens") != int64(run.Turns[0].Hop.Usage.OutputTokens) || s.Attr("macaron.adapter") != "A" || s.Kind != tracepb.Span_SPAN_KIND_CLIENT || s.Attr("gen_ai.response.finish_reasons") == nil {
			t.Errorf("%s: the first model call is %v", name, s)
		}
		for _, words := range []string{"do it", "You act", "a.txt", "remember this"} {
			if strings.Contains(text, words) {
				t.Errorf("%s: %q stands in spans without content", name, words)
			}
		}
		if _, told := spans(t, run, true); !strings.Contains(told, "do it") {
			t.Errorf("%s: spans with content have none", name)
		}
	}
}

func stored(t *testing.T, name string) (*transcript.Run, []record.Record) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "harness", "testdata", "runs", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []record.Record
	for line := range bytes.Lines(text) {
		r, err := record.DecodeLine(bytes.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return transcript.Fold(all), all
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What the model must not see is in no span; what failed says so.
func TestHiddenValuesAndFailuresInSpans(t *testing.T) {
	m := chat.Text(chat.Assistant, "here: sk-canary123canary\n```python\nsend(look())\n```")
	run := folded(
		record.RunOpened{Mode: "hybrid", Messages: []chat.Message{chat.Text(chat.User, "do")}},
		record.Hop{ID: "h0", Hop: record.HopAnswer, Error: "upstream_failed", Detail: "hidden-detail"},
		record.Hop{ID: "h1", Hop: record.HopAnswer, Adapter: adapter.Revision{Name: "L1"}, Message: &m, Usage: chat.Usage{Total: time.Second / 2}},
		record.ToolCalled{Call: "h1/1", Name: "look", Parent: "h1", Effect: "read", Arguments: json.RawMessage(`{}`), Attempt: 1},
		record.ToolReturned{Call: "h1/1", Name: "look", Parent: "h1", Value: json.RawMessage(`"hidden-value"`), Wall: time.Second},
		record.ToolCalled{Call: "h1/2", Name: "send", Parent: "h1", Effect: "write", Arguments: json.RawMessage(`{"text":"hidden-value"}`), Visible: json.RawMessage(`{"to":"me"}`), Attempt: 1},
		record.ToolCalled{Call: "h1/2/1", Name: "post", Parent: "h1/2", Effect: "read", Arguments: json.RawMessage(`{"n":"` + strings.Repeat("é", 8<<10) + `"}`), Attempt: 1},
		record.ToolReturned{Call: "h1/2/1", Name: "post", Parent: "h1/2", Error: &record.RunError{Code: "timeout", Message: "hidden-message"}, Wall: time.Hour},
		record.CellRan{Cell: "h1", Code: "send(look())", Status: "died", Output: "hidden-output", Shown: "it died", Wall: 5 * time.Second},
		record.RunClosed{Status: record.RunInDoubt, Call: "h1/2"},
	)
	all, text := spans(t, run, true)
	if strings.Contains(text, "hidden") || strings.Contains(text, "canary") {
		t.Errorf("hidden values stand in %s", text)
	}
	want := []string{"invoke_agent macaron", "invoke_agent macaron > chat L1", "invoke_agent macaron > execute_tool run_python", "execute_tool run_python > execute_tool look",
		"execute_tool run_python > execute_tool send", "execute_tool send > execute_tool post", "invoke_agent macaron > chat"}
	if diff := cmp.Diff(want, tree(t, all)); diff != "" {
		t.Error(diff)
	}
	var failures []any
	for _, s := range all {
		if failed := s.Attr("error.type") != nil; failed != (s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR) {
			t.Errorf("%s: status %v", s.Name, s.Status)
		}
		failures = append(failures, s.Attr("error.type"))
	}
	if diff := cmp.Diff([]any{nil, nil, "died", nil, "in_doubt", "timeout", "upstream_failed"}, failures); diff != "" {
		t.Error(diff)
	}
	if i := slices.IndexFunc(all, func(s obstest.Span) bool { return s.Name == "chat L1" }); all[i].EndTimeUnixNano-all[i].StartTimeUnixNano != uint64(time.Second/2) {
		t.Errorf("the model call took %d", all[i].EndTimeUnixNano-all[i].StartTimeUnixNano)
	}
}

func TestARunIsSent(t *testing.T) {
	run, _ := stored(t, "code")
	to := obstest.Start(t)
	if err := obs.SendRun(t.Context(), run, obs.RunOptions{}, obs.TraceOptions{Endpoint: to.URL, Headers: "x-key=k"}); err != nil {
		t.Fatal(err)
	}
	want, _ := spans(t, run, false)
	if diff := cmp.Diff(tree(t, want), tree(t, to.Spans())); diff != "" || to.Headers()[0].Get("X-Key") != "k" {
		t.Errorf("%s%v", diff, to.Headers())
	}
	if err := obs.SendRun(t.Context(), run, obs.RunOptions{}, obs.TraceOptions{Endpoint: to.URL + "/none"}); errs.CodeOf(err) != errs.UpstreamFailed {
		t.Errorf("a receiver that refuses: %v", err)
	}
}

// folded makes a run of bodies, one a second.
func folded(bodies ...record.Body) *transcript.Run {
	var all []record.Record
	for i, b := range bodies {
		all = append(all, record.Record{Body: b, Head: record.Head{Seq: int64(i + 1), Owner: "o", Session: "s", Run: "run_1", Time: time.Unix(int64(100+i), 0).UTC()}})
	}
	return transcript.Fold(all)
}
