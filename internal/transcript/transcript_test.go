package transcript

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
	"macaron/internal/record"
)

// story makes the records of a run, one a second.
func story(bodies ...record.Body) []record.Record {
	var all []record.Record
	for i, b := range bodies {
		all = append(all, record.Record{Body: b, Head: record.Head{Seq: int64(i + 1), Owner: "o", Session: "s", Run: "run_1", Time: time.Unix(int64(i), 0).UTC()}})
	}
	return all
}

func asks(id string, calls ...chat.ToolCall) record.Hop {
	m := chat.Text(chat.Assistant, "on it")
	m.ToolCalls = calls
	return record.Hop{ID: id, Hop: record.HopAnswer, Message: &m, Usage: chat.Usage{OutputTokens: 2}}
}

func TestMessagesOfARun(t *testing.T) {
	said := chat.Text(chat.Assistant, "Look:\n```python\nx = f(1)\nx\n```\nx is 7")
	run := Fold(story(
		record.RunOpened{Mode: "hybrid", Messages: []chat.Message{chat.Text(chat.User, "do")}},
		record.RunNote{Note: record.NoteMessage, Text: "mind the gap"},
		record.Hop{ID: "h0", Hop: record.HopAnswer, Error: "upstream_failed"},
		asks("h1", chat.ToolCall{ID: "a", Name: "f"}, chat.ToolCall{ID: "b", Name: Python}),
		record.ToolCalled{Call: "a", Name: "f", Effect: "read", Attempt: 1},
		record.ToolReturned{Call: "a", Name: "f", Shown: "one"},
		record.CellRan{Cell: "b", Shown: "two"},
		record.Hop{ID: "h2", Hop: record.HopAnswer, Message: &said},
		record.ToolCalled{Call: "h2/1", Name: "f", Parent: "h2", Effect: "pure", Attempt: 1},
		record.ToolReturned{Call: "h2/1", Name: "f", Parent: "h2"},
		record.CellRan{Cell: "h2", Shown: "7", Calls: 1},
		asks("h3", chat.ToolCall{ID: "c", Name: Finish}),
		record.RunNote{Note: record.NoteMessage, Call: "c", Text: "not yet"},
	))
	var got []string
	for _, m := range run.Messages() {
		got = append(got, string(m.Role)+" "+m.ToolCallID+": "+m.Text())
	}
	want := []string{"user : do", "user : mind the gap", "assistant : on it", "tool a: one", "tool b: two", "assistant : " + said.Text(), "user : 7", "assistant : on it", "tool c: not yet"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if run.Pending() != nil || len(run.Cells()) != 2 || len(run.Cell("h2").Calls) != 1 || len(run.Failed) != 1 {
		t.Errorf("%+v", run)
	}
	if u := run.Totals; u.Turns != 4 || u.ToolCalls != 2 || u.Cells != 2 || u.Usage.OutputTokens != 4 || run.Records != 13 {
		t.Errorf("%+v", u)
	}
}

func TestACallInDoubt(t *testing.T) {
	begun := func(effect string, more ...record.Body) *Run {
		return Fold(story(append([]record.Body{record.RunOpened{Mode: "functions"}, asks("h", chat.ToolCall{ID: "a", Name: "f"}),
			record.ToolCalled{Call: "a", Name: "f", Effect: effect, Attempt: 1}}, more...)...))
	}
	unknown := record.ToolReturned{Call: "a", Name: "f", Error: &record.RunError{Unknown: true}}
	for name, c := range map[string]struct {
		run   *Run
		doubt bool
	}{
		"a read":                          {begun("read"), false},
		"a write":                         {begun("write"), true},
		"one that returned":               {begun("write", record.ToolReturned{Call: "a", Name: "f"}), false},
		"one that failed without telling": {begun("irreversible", unknown), true},
		"one that is decided":             {begun("write", record.RunNote{Note: record.NoteRetry, Call: "a"}), false},
		"a second attempt":                {begun("write", record.RunNote{Note: record.NoteRetry, Call: "a"}, record.ToolCalled{Call: "a", Name: "f", Effect: "write", Attempt: 2}), true},
	} {
		if got := c.run.Call("a").InDoubt(); got != c.doubt {
			t.Errorf("%s: %v", name, got)
		}
	}
	if r := begun("write", unknown, record.RunNote{Note: record.NoteRetry, Call: "a"}); r.Pending() == nil {
		t.Error("a call that is to be made again is not pending")
	}
}

func TestCode(t *testing.T) {
	for text, want := range map[string]string{
		"```python\nx\n```": "x\n", "a\n```\ny\n```\nb": "y\n", "```py\nx\n``` and ```py\nz\n```": "x\n",
		"```json\n{}\n```": "", "```json\n{}\n```\n```Python \nx\n```": "x\n", "```python\nx": "", "no code": "", "```python\n\n```": "",
	} {
		got, ok := Code(text)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v", text, got, ok)
		}
	}
}

func TestRecordsOfOthersAndThoseThatItHasArePassedOver(t *testing.T) {
	all := story(record.RunOpened{}, asks("h"), record.RunClosed{Status: record.RunDone})
	run := Fold(all)
	for _, r := range all {
		run.Apply(r)
	}
	all[1].Run = "run_2"
	run.Apply(all[1])
	if run.Records != 3 || len(run.Turns) != 1 || run.Status != record.RunDone {
		t.Errorf("%+v", run)
	}
}
