package session

import (
	"time"

	"macaron/internal/adapter"
	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/ownview"
	"macaron/internal/record"
)

// Turn is one user request until its final answer, folded from its records. It is
// a value of the caller: only the functions of this package change it, and it is
// not safe for concurrent use.
type Turn struct {
	ID, Session, Parent string
	Owner, Scope        string
	Run, Request        string
	Contract            ids.Digest       // pinned until the turn closes
	Revision            adapter.Revision // pinned from the first answer hop on; zero before
	Purpose             record.Purpose
	Consent             record.Consent

	System   []chat.Message // the client's leading system texts
	Imported []chat.Message // messages before User that no record owns
	User     []chat.Message // the new messages, the last user message among them
	Trace    []chat.Message // assistant and tool messages, verbatim
	Tools    []chat.ToolDef
	Choice   chat.ToolChoice
	Forced   string
	Route    *record.RouteDecision
	Hops     []record.Hop // in the order they ended

	Pair      *record.Pair        // that it began with; nil: no release was in force or on trial
	Part      *record.PartOf      // the turn answers a part of that turn
	Joined    []record.JoinedPart // its own parts, if several specialists answered
	Compacted []record.Compacted  // what this turn's views began to shorten
	Cards     map[string]Card     // of its answer, by surface, as far as a page has shown them

	Summary       string
	SummarySource string // model or extract; "" when there is none yet
	SummaryFinal  bool   // a view has used Summary

	Status         record.Status
	Reason         string // why it is interrupted
	Score          int    // last feedback: +1, -1 or 0
	Opened, Closed time.Time

	step    int       // requests that brought tool results
	begun   time.Time // when the last request was taken
	awaited int       // messages of Trace at the last tool calls that the client saw; 0 none
	start   [32]byte  // chain hash before Trace
	after   *link     // chain hash behind Trace, once the turn is delivered and it was needed
	seq     int64     // last record read of it; 0 for a turn in hand
	later   *later    // of a turn in hand: what of it is not in the log yet
}

// Step tells which request of the turn the present one is, from 0, and when it was taken.
func (t *Turn) Step() (int, time.Time) { return t.step, t.begun }

// View gives what ownview needs of the turn.
func (t *Turn) View() ownview.Turn {
	return ownview.Turn{
		ID: t.ID, Adapter: t.Revision.Name, System: t.System, Imported: t.Imported, User: t.User,
		Trace: t.Trace, Summary: t.Summary, Final: t.SummaryFinal, Parts: t.parts(), Compacted: t.Compacted,
	}
}

// parts gives ownview the answers of a turn that several specialists answered.
func (t *Turn) parts() []ownview.Part {
	var out []ownview.Part
	for _, p := range t.Joined {
		out = append(out, ownview.Part{Adapter: p.Adapter.Name, Text: p.Text})
	}
	return out
}

// Specialist is the adapter that answered; of several, that of the last part.
func (t *Turn) Specialist() string {
	if n := len(t.Joined); n > 0 {
		return t.Joined[n-1].Adapter.Name
	}
	return t.Revision.Name
}

// Views gives what ownview needs of several turns.
func Views(turns []Turn) []ownview.Turn {
	views := make([]ownview.Turn, len(turns))
	for i := range turns {
		views[i] = turns[i].View()
	}
	return views
}

// Text is the text of the turn's last user message: what is routed.
func (t *Turn) Text() string { return lastUser(t.User).Described() }

// Answer is the text of the turn's last assistant message, "" if there is none.
func (t *Turn) Answer() string {
	for i := len(t.Trace) - 1; i >= 0; i-- {
		if m := t.Trace[i]; m.Role == chat.Assistant && m.Text() != "" {
			return m.Text()
		}
	}
	return ""
}

// Partial is what an answer that was cut short had come to, "" of other turns; it is in no
// trace.
func (t *Turn) Partial() string {
	if t.Status != record.StatusInterrupted {
		return ""
	}
	for i := len(t.Hops) - 1; i >= 0; i-- {
		if h := t.Hops[i]; h.Hop == record.HopAnswer && h.Error != "" && h.Message != nil {
			return h.Message.Text()
		}
	}
	return ""
}

// Calls lists the tool calls that the turn waits for.
func (t *Turn) Calls() []chat.ToolCall {
	if n := len(t.Trace); t.Status == record.StatusAwaiting && n > 0 {
		return t.Trace[n-1].ToolCalls
	}
	return nil
}

// lastUser is the last message of a person, an empty one if there is none.
func lastUser(messages []chat.Message) chat.Message {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == chat.User {
			return messages[i]
		}
	}
	return chat.Message{}
}
