package session

import (
	"slices"

	"macaron/internal/chat"
	"macaron/internal/record"
)

// fold makes turns of records that are in log order. Turns come in the order they
// were opened; records of turns that are not opened among them are left out.
func fold(records []record.Record) []Turn {
	var turns []Turn
	at := map[string]int{}
	for _, r := range records {
		if _, opened := r.Body.(record.TurnOpened); opened {
			at[r.Turn] = len(turns)
			turns = append(turns, Turn{})
		}
		if i, ok := at[r.Turn]; ok && r.Turn != "" {
			turns[i].apply(r)
		}
	}
	return turns
}

// apply moves a turn on by one record. Every change of a Turn is made here, of
// records as the log has them, so that a turn in hand and one read back are equal.
//
// A record that the turn has is passed over.
func (t *Turn) apply(r record.Record) {
	if r.Seq > 0 && r.Seq <= t.seq {
		return
	}
	t.move(r)
	t.seq = max(t.seq, r.Seq)
}

func (t *Turn) move(r record.Record) {
	switch b := r.Body.(type) {
	case record.TurnOpened:
		t.open(r.Head, b)
	case record.Hop:
		t.hop(b)
	case record.ToolResults:
		t.Trace = slices.Concat(t.Trace, b.Messages)
		t.Status = record.StatusOpen
		t.step, t.begun = t.step+1, r.Time
		if b.System != nil {
			t.System = *b.System
		}
	case record.TurnClosed:
		t.close(r.Head, b)
	case record.Summary:
		if !t.SummaryFinal {
			t.Summary, t.SummarySource = b.Text, b.Source
		}
	case record.SummaryUsed:
		if !t.SummaryFinal {
			t.Summary, t.SummaryFinal = b.Text, true
		}
	case record.Feedback:
		t.Score = b.Score
	case record.Joined:
		t.Joined, t.Trace = b.Parts, []chat.Message{b.Message}
	case record.Compacted:
		t.Compacted = slices.Concat(t.Compacted, []record.Compacted{b})
	default:
		t.card(r.Body)
	}
}

func (t *Turn) open(h record.Head, b record.TurnOpened) {
	*t = Turn{
		ID: h.Turn, Session: h.Session, Parent: h.ParentTurn, Owner: h.Owner, Scope: t.Scope,
		Run: h.Run, Request: h.Request, Contract: h.Contract, Purpose: h.Purpose, Consent: h.Consent,
		System: b.System, Imported: b.Imported, User: b.Messages, Tools: b.Tools, Choice: b.Choice, Forced: b.Forced, Part: b.Part, Pair: b.Pair,
		Status: record.StatusOpen, Opened: h.Time, begun: h.Time,
	}
	if c := b.Continued; c != nil {
		t.Revision, t.Trace = c.Adapter, c.Trace
	}
}

func (t *Turn) hop(b record.Hop) {
	t.Hops = append(t.Hops, b)
	if b.Route != nil && b.Hop == record.HopRoute {
		t.Route = b.Route
	}
	if b.Hop != record.HopAnswer || b.Error != "" || b.Message == nil {
		return
	}
	if t.Revision.IsBase() {
		t.Revision = b.Adapter
	}
	t.Trace = slices.Concat(t.Trace, []chat.Message{*b.Message}) // never into an array that a copy shares
}

// close sets the status. What the client never saw of an interrupted turn goes;
// if it has seen tool calls, they wait for their results again.
func (t *Turn) close(h record.Head, b record.TurnClosed) {
	t.Status, t.Reason, t.Closed = b.Status, b.Reason, h.Time
	t.after = nil
	switch {
	case b.Status == record.StatusAwaiting:
		t.awaited = len(t.Trace)
	case b.Status == record.StatusInterrupted && t.awaited > 0:
		t.Status, t.Trace = record.StatusAwaiting, t.Trace[:t.awaited:t.awaited]
	}
}
