package session

import (
	"context"

	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// afterLeft places a request behind a turn that the client left at its tool calls.
// What the client saw of it becomes a closed turn of its own, since the turn itself
// may go on, or has gone on, with other results.
func (l *Log) afterLeft(ctx context.Context, p *Position, r request, n int, c record.Chain) error {
	from, err := l.turn(ctx, r.Owner, c.Turn)
	if err != nil {
		return err
	}
	if err := l.history(ctx, p, from.Parent); err != nil {
		return err
	}
	rest := r.messages[n:]
	var given []chat.Message
	for len(rest) > 0 && rest[0].Role == chat.Tool {
		given = append(given, rest[0])
		rest = rest[1:]
	}
	p.Session = r.Session
	if p.Session == "" && from.Status == record.StatusAwaiting {
		p.Session = from.Session
	}
	if p.Session == "" {
		p.Session, p.ForkedFrom = l.ids.New(ids.Session), from.Parent
		p.left = append(p.left, l.sessionOpened(p, from, rest))
	}
	if err := l.leave(p, from, c.Messages, given); err != nil {
		return err
	}
	return p.fresh(rest)
}

// leave prepares the closed turn.
func (l *Log) leave(p *Position, from *Turn, shared int, given []chat.Message) error {
	t := &Turn{
		ID: l.ids.New(ids.Turn), Session: p.Session, Parent: from.Parent, Owner: from.Owner, Scope: p.Where.Scope, Run: from.Run,
		Request: from.Request, Contract: from.Contract, Revision: from.Revision, Purpose: from.Purpose, Consent: from.Consent,
	}
	bodies := []record.Body{record.TurnOpened{
		System: from.System, Imported: from.Imported, Messages: from.User, Tools: from.Tools, Choice: from.Choice, Forced: from.Forced,
		Continued: &record.Continued{Turn: from.ID, Adapter: from.Revision, Trace: from.Trace[:shared]},
	}}
	if len(given) > 0 {
		bodies = append(bodies, record.ToolResults{Messages: given})
	}
	for _, b := range append(bodies, record.TurnClosed{Status: record.StatusDelivered, Reason: "left at its tool calls"}) {
		r := l.record(t, b)
		if err := r.Settle(); err != nil {
			return err
		}
		p.left = append(p.left, r)
		t.apply(r)
	}
	t.start = t.begin(end(p.History))
	t.Scope = p.Where.Scope
	p.link = []record.Chain{t.chain(true)}
	p.History, p.Parent = append(p.History, *t), t.ID
	return nil
}
