package trajectory

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/adapter"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

var update = flag.Bool("update", false, "write the goldens again")

// secret is what a tool gave to code and the model never saw.
const secret = "s3cret-value"

// story is a run in hybrid mode: code that calls a tool, a call of the model's own, the end.
// change may alter any record.
func story(t *testing.T, change func(i int, r *record.Record)) *transcript.Run {
	t.Helper()
	rev := adapter.Revision{Name: "L1", Hash: ids.DigestOf([]byte("l1"))}
	engine := chat.Engine{Name: "macaron", Version: "1", Base: "tiny", Template: "t", Tokenizer: "k"}
	say := func(id, text, continues string, calls ...chat.ToolCall) record.Hop {
		m := chat.Text(chat.Assistant, text)
		m.ToolCalls = calls
		return record.Hop{ID: id, Hop: record.HopAnswer, Adapter: rev, Engine: engine, Usage: chat.Usage{PromptTokens: 4, CachedTokens: 2, OutputTokens: 2}, Message: &m, Continues: continues, CostUSD: 25e7}
	}
	args := json.RawMessage(`{"id":7}`)
	bodies := []record.Body{
		record.RunOpened{Task: record.RunTask{ID: "task-1", Instruction: "add them up", Suite: "demo"}, Mode: "hybrid", Seed: 5,
			Messages: []chat.Message{chat.Text(chat.System, "Do it."), chat.Text(chat.User, "add them up")},
			Tools:    []chat.ToolDef{{Name: "run_python", Description: "runs code", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "look"}},
			Pins:     record.RunPins{Adapter: rev, Engine: engine, Tools: ids.DigestOf([]byte("tools"))}, Limits: record.RunLimits{Turns: 9}},
		say("hop_1", "I compute.", "", chat.ToolCall{ID: "c1", Name: "run_python", Arguments: `{"code":"look(7)"}`}),
		record.ToolCalled{Call: "c1/1", Name: "look", Arguments: args, Effect: "read", Parent: "c1", Attempt: 1},
		record.ToolReturned{Call: "c1/1", Name: "look", Parent: "c1", Value: json.RawMessage(`{"x":"` + secret + `"}`), Wall: time.Millisecond},
		record.CellRan{Cell: "c1", Code: "look(7)", Status: "ok", Value: "41", Shown: "41", Calls: 1, Wall: 2 * time.Millisecond},
		say("hop_2", "Now I look.", "hop_1", chat.ToolCall{ID: "c2", Name: "look", Arguments: `not json`}),
		record.ToolCalled{Call: "c2", Name: "look", Arguments: args, Effect: "read", Attempt: 1},
		record.ToolReturned{Call: "c2", Name: "look", Value: json.RawMessage(`"` + secret + `"`), Shown: "one\x1b[2Jmore"},
		record.RunNote{Note: record.NoteMessage, Text: "go on"},
		say("hop_3", "42", "hop_2"),
		record.RunClosed{Status: record.RunDone, Answer: "42", Totals: record.RunTotals{Turns: 3, ToolCalls: 2, Cells: 1, Usage: chat.Usage{PromptTokens: 12, CachedTokens: 6, OutputTokens: 6}, CostUSD: 75e7}},
	}
	blobs := map[string]*record.Blob{
		"hop_1": {Prompt: []int32{1, 2, 3}, Tokens: []int32{4, 5}, Logps: []float32{-0.5, -0.25}},
		"hop_2": {Prompt: []int32{6}, Tokens: []int32{7, 8}, Logps: []float32{-1, -2}},
		"hop_3": {Prompt: []int32{9, 10}, Tokens: []int32{11}, Logps: []float32{-0.125}},
	}
	var all []record.Record
	for i, b := range bodies {
		r := record.Record{Body: b, Head: record.Head{Seq: int64(i + 1), ID: fmt.Sprint(i), Owner: "o", Session: "ses_1", Run: "run_1", Time: time.Unix(1_700_000_000+int64(i), 0).UTC(), Contract: ids.DigestOf([]byte("k")),
			Revision: rev.Hash, Purpose: record.Discovery, Consent: record.ConsentNone}}
		if h, ok := b.(record.Hop); ok {
			r.Blob = blobs[h.ID]
		}
		if change != nil {
			change(i, &r)
		}
		all = append(all, r)
	}
	return transcript.Fold(all)
}

func golden(t *testing.T, name string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), secret) {
		t.Errorf("%s has what the model never saw", name)
	}
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (go test ./internal/trajectory -update):\n%s", name, diff)
	}
}

// The document that harbor's own models accept (test/trajectory/harbor.sh).
func TestATIF(t *testing.T) {
	d := ATIF(story(t, nil), "1.0.0")
	golden(t, "atif.json", d)
	for i, s := range d.Steps {
		if s.StepID != i+1 || s.Source != "agent" && (s.ToolCalls != nil || s.Metrics != nil || s.LLMCallCount != nil) {
			t.Errorf("step %+v", s)
		}
		if s.Observation == nil {
			continue
		}
		for _, r := range s.Observation.Results {
			found := false
			for _, c := range s.ToolCalls {
				found = found || c.ID == r.SourceCallID
			}
			if !found {
				t.Errorf("step %d answers %q, which it did not call", s.StepID, r.SourceCallID)
			}
		}
	}
}

func TestRowsToTrainOn(t *testing.T) {
	tr, err := Training(story(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "sft.json", tr.SFT())
	rows, err := tr.GRPO()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "grpo.json", rows)
	if len(rows) != 1 || len(rows[0].Completion) != len(rows[0].Mask) || len(rows[0].Mask) != len(rows[0].Logprobs) {
		t.Errorf("%+v", rows)
	}
	if diff := cmp.Diff([]int32{4, 5, 6, 7, 8, 9, 10, 11}, rows[0].Completion); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1, 1, 0, 1, 1, 0, 0, 1}, rows[0].Mask); diff != "" {
		t.Error(diff)
	}
}

// A prompt that was made anew begins a row of its own; ids that are not there are no row.
func TestRowsFollowWhatWasServed(t *testing.T) {
	anew := func(_ int, r *record.Record) {
		if h, ok := r.Body.(record.Hop); ok && h.ID == "hop_2" {
			h.Continues = ""
			r.Body = h
		}
	}
	tr, err := Training(story(t, anew))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := tr.GRPO()
	if err != nil || len(rows) != 2 || len(rows[1].Prompt) != 1 || rows[1].Part != 1 {
		t.Errorf("%+v %v", rows, err)
	}
	tr, err = Training(story(t, func(_ int, r *record.Record) { r.Blob = nil }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.GRPO(); errs.CodeOf(err) != errs.Unsupported {
		t.Errorf("%v", err)
	}
}

func TestEvaluationsNeverLeaveAsTrainingData(t *testing.T) {
	for _, c := range []struct {
		purpose record.Purpose
		consent record.Consent
		fine    bool
	}{
		{record.Discovery, record.ConsentNone, true}, {record.Production, record.ConsentTrain, true}, {record.Production, record.ConsentNone, false},
		{record.Evaluation, record.ConsentTrain, false}, {record.Replay, record.ConsentTrain, false}, {record.Training, record.ConsentTrain, false}, {"", record.ConsentTrain, false},
	} {
		_, err := Training(story(t, func(_ int, r *record.Record) { r.Purpose, r.Consent = c.purpose, c.consent }))
		if (err == nil) != c.fine || err != nil && errs.CodeOf(err) != errs.Forbidden {
			t.Errorf("%s with %s: %v", c.purpose, c.consent, err)
		}
	}
}

func TestTextMovesNoCursor(t *testing.T) {
	text := Text(story(t, nil))
	for _, want := range []string{"run_1  done  hybrid", "turn 2", "in code look {\"id\":7}", "shown    41", "told     go on", "answer   42"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\x00\r") || strings.Contains(text, secret) {
		t.Errorf("%q", text)
	}
}

func TestAudit(t *testing.T) {
	same, err := Compare(story(t, nil), story(t, nil), nil, nil)
	if err != nil || !same.SamePins || !same.Behaviour.SameBehavior || same.Behaviour.Tokens != (Tally{3, 3, 0}) || same.Behaviour.Prompts.Equal != 3 || same.Behaviour.Results != (Tally{2, 2, 0}) {
		t.Errorf("%+v %v", same, err)
	}
	for name, c := range map[string]struct {
		change func(int, *record.Record)
		pins   bool
		parts  string
	}{
		"token": {func(_ int, r *record.Record) {
			if h, ok := r.Body.(record.Hop); ok && h.ID == "hop_2" {
				r.Blob = &record.Blob{Prompt: r.Blob.Prompt, Tokens: []int32{7, 99}, Logps: r.Blob.Logps}
			}
		}, true, "turn 2: the answer's tokens"},
		"result": {func(_ int, r *record.Record) {
			if b, ok := r.Body.(record.ToolReturned); ok && b.Call == "c2" {
				b.Value = json.RawMessage(`"other"`)
				r.Body = b
			}
		}, true, "call 2: another result of look"},
		"contract": {func(_ int, r *record.Record) { r.Contract = ids.DigestOf([]byte("other")) }, false, ""},
		"tokenizer": {func(_ int, r *record.Record) {
			if o, ok := r.Body.(record.RunOpened); ok {
				o.Pins.Engine.Tokenizer = "z"
				r.Body = o
			}
		}, false, ""},
		"no ids": {func(_ int, r *record.Record) { r.Blob = nil }, true, ""},
	} {
		a, err := Compare(story(t, nil), story(t, c.change), nil, nil)
		if err != nil || a.SamePins != c.pins || a.Behaviour.FirstOther != c.parts || a.Statement != Plain {
			t.Errorf("%s: %+v %v", name, a, err)
		}
		if name == "no ids" && a.Behaviour.Tokens.Unknown != 3 {
			t.Errorf("%+v", a.Behaviour)
		}
	}
}
