package trajectory

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/ui4a/action"
)

// A conversation as a document that harbor's own models accept (test/trajectory/harbor.sh):
// tools, a card, an Action on it, an answer that was deleted and one that was stopped.
func TestAConversation(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).UTC()
	hop := func(in, out int) record.Hop {
		return record.Hop{Hop: record.HopAnswer, Adapter: adapter.Revision{Name: "L3"}, Usage: chat.Usage{PromptTokens: in, OutputTokens: out}}
	}
	done := record.CardAction{
		Action: action.Action{ID: "act_1", Origin: action.Origin{Surface: "canvas/trip", Revision: string(ids.DigestOf([]byte("card"))), Node: secret}, Name: "book",
			State: map[string]json.RawMessage{"seats": json.RawMessage("2"), secret: json.RawMessage("null")}},
		Receipt: action.Receipt{Outcome: action.Sent, Sent: []string{"seats"}, Withheld: []string{secret}, Saw: `{"action":"book","state":{"seats":2},"surface":"canvas/trip"}`},
	}
	kept := done
	kept.Receipt = action.Receipt{Outcome: action.Kept, Withheld: []string{"seats", secret}, Message: secret}
	talk := Talk{Session: "ses_1", Turns: []Spoken{
		{Turn: "trn_1", Opened: at, Closed: at.Add(time.Second), System: []chat.Message{chat.Text(chat.System, "Be kind.")}, Said: []chat.Message{chat.Text(chat.User, "Plan the trip")}, Status: record.StatusDelivered,
			Trace: []chat.Message{
				{Role: chat.Assistant, ToolCalls: []chat.ToolCall{{ID: "c1", Name: "trains", Arguments: `{"to":"Porto"}`}}},
				{Role: chat.Tool, ToolCallID: "c1", Parts: []chat.Part{{Kind: "text", Text: "at nine"}}},
				chat.Text(chat.Assistant, "Here:\n````ui4a/tsx canvas/trip\nexport default () => <p>a</p>;\n````\n"),
			},
			Answers: []record.Hop{hop(10, 5), hop(20, 30)},
			Cards:   []Card{{Surface: "canvas/trip", Revision: ids.DigestOf([]byte("card")), Outcome: record.CardCompleted, Receipts: []Receipt{Told(done), Told(kept)}}}},
		{Turn: "trn_2", Opened: at, Closed: at, Said: []chat.Message{chat.Text(chat.User, done.Receipt.Saw)}, Action: ActionOf(done), Status: record.StatusDelivered, Trace: []chat.Message{chat.Text(chat.Assistant, "Booked.")}, Answers: []record.Hop{hop(60, 3)}},
		{Turn: "trn_3", Opened: at, Closed: at, Said: []chat.Message{chat.Text(chat.User, "And then?")}, Status: record.StatusDelivered, Deleted: true, Trace: []chat.Message{chat.Text(chat.Assistant, secret)}, Answers: []record.Hop{hop(70, 4)}},
		{Turn: "trn_4", Opened: at, Closed: at, Said: []chat.Message{chat.Text(chat.User, "More")}, Status: record.StatusInterrupted, Partial: "I was about to"},
	}}
	d := talk.ATIF("1.0.0")
	golden(t, "conversation.json", d)
	text, err := json.Marshal(d)
	if err != nil || strings.Contains(string(text), "withheld") || strings.Contains(string(text), "node") {
		t.Errorf("the document has more of an Action than a model saw, %v", err)
	}
	for i, s := range d.Steps {
		if s.StepID != i+1 || s.Source != "agent" && (s.ToolCalls != nil || s.Metrics != nil || s.LLMCallCount != nil) {
			t.Errorf("step %+v", s)
		}
	}
}
