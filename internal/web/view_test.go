package web

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/adapter"
	"macaron/internal/chat"
	"macaron/internal/record"
	"macaron/internal/session"
)

func TestMessagesCanBeSentBackAsTheyAre(t *testing.T) {
	got, err := json.Marshal(messagesOf([]chat.Message{
		{Role: chat.User, Parts: []chat.Part{{Kind: "text", Text: "look"}, {Kind: "image", Raw: []byte(`{"type":"image_url","image_url":{"url":"data:"}}`)}}},
		{Role: chat.Assistant, ToolCalls: []chat.ToolCall{{ID: "c1", Name: "see", Arguments: `{"a": 1}`}}, Reasoning: "hm"},
		{Role: chat.Tool, ToolCallID: "c1", Parts: []chat.Part{{Kind: "text", Text: "a cat"}}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:"}}]},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"see","arguments":"{\"a\": 1}"}}],"reasoning_content":"hm"},` +
		`{"role":"tool","content":"a cat","tool_call_id":"c1"}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestAnInterruptedTurnShowsHowFarItCame(t *testing.T) {
	said := chat.Text(chat.Assistant, "One, two")
	turn := session.Turn{
		Status: record.StatusInterrupted, Reason: "canceled", Route: &record.RouteDecision{Label: "L2", Reason: "model"},
		Hops: []record.Hop{{Hop: record.HopRoute}, {Hop: record.HopAnswer, Adapter: adapter.Revision{Name: "L2"}, Message: &said, Error: "canceled"}},
	}
	v := viewOf(&turn, false)
	if v.Partial != "One, two" || v.Adapter != "L2" || len(v.Trace) != 0 || len(v.Hops) != 1 || v.Hops[0].Error != "canceled" {
		t.Errorf("got %+v", v)
	}
	turn.Status = record.StatusDelivered
	if v := viewOf(&turn, false); v.Partial != "" {
		t.Errorf("a delivered turn has a partial answer: %q", v.Partial)
	}
}

func FuzzJudgement(f *testing.F) {
	for _, seed := range []string{`{"turn":"trn_01ARZ3NDEKTSV4RRFFQ69G5FAV","score":1,"reason":"r","correction":null}`, `{"turn":1}`, `[`, `{"score":1e0}`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		j, err := parseJudgement(body)
		if err != nil {
			return
		}
		if j.Score < -1 || j.Score > 1 || len(j.Reason) > reasonBytes || len(j.Correction) > correctionBytes {
			t.Fatalf("let through: %+v", j)
		}
		again, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := parseJudgement(again); err != nil || same != j {
			t.Fatalf("%s reads back as %+v, %v", again, same, err)
		}
	})
}
