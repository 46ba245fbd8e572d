package session

import (
	"context"
	"fmt"
	"slices"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// resolveTools places a request that ends with tool results: they continue the
// turn that called, whatever came between. Where no turn of ours called, the calls
// in the request itself make it whole, and it is a new turn.
func (l *Log) resolveTools(ctx context.Context, p *Position, r request) error {
	first := len(r.messages) // of the last run of results
	for first > 0 && r.messages[first-1].Role == chat.Tool {
		first--
	}
	at, said := speaker(r.messages[:first], r.messages[first].ToolCallID)
	c, err := l.called(ctx, r, first, said)
	if err != nil {
		return err
	}
	if c.turn == nil {
		return l.importCalls(ctx, p, r, at)
	}
	turns, err := l.History(ctx, r.Owner, c.turn.ID)
	if err != nil {
		return err
	}
	n := len(turns) - 1
	t := &turns[n]
	t.Scope = r.Scope
	p.Continue, p.shared = t, c.shared
	p.History, p.Parent, p.Session = turns[:n:n], t.Parent, t.Session
	p.Results, err = results(t.Trace[c.shared-1].ToolCalls, r.messages[max(0, at):])
	return err
}

// speaker gives the last assistant message with this call and its index, or -1.
func speaker(messages []chat.Message, id string) (int, *chat.Message) {
	for i := len(messages) - 1; i >= 0; i-- {
		m := &messages[i]
		if m.Role == chat.Assistant && slices.ContainsFunc(m.ToolCalls, func(c chat.ToolCall) bool { return c.ID == id }) {
			return i, m
		}
	}
	return -1, nil
}

// caller is a turn and how much of its trace ends with the calls in question.
type caller struct {
	turn   *Turn
	shared int
}

// called finds the turn of ours that made the calls: the one whose conversation
// this is, else the only one with these calls, which said holds if the request does.
// The zero caller means that none is ours.
func (l *Log) called(ctx context.Context, r request, first int, said *chat.Message) (caller, error) {
	n, found, err := l.match(ctx, r)
	if err != nil {
		return caller{}, err
	}
	_, open := split(found)
	var fits []caller
	if n == first && len(open) > 0 { // nothing but results follows the calls
		for _, c := range open {
			if fits, err = l.fit(ctx, r.Owner, c.Turn, c.Messages, nil, fits); err != nil {
				return caller{}, err
			}
		}
		return preferred(fits), nil
	}
	calls, err := l.store.Calls(ctx, r.Owner, r.Scope, r.messages[first].ToolCallID, candidates)
	if err != nil {
		return caller{}, err
	}
	for _, c := range calls {
		if r.Session != "" && c.Session != r.Session {
			continue
		}
		if fits, err = l.fit(ctx, r.Owner, c.Turn, c.Messages, said, fits); err != nil {
			return caller{}, err
		}
	}
	if sole(fits) {
		return preferred(fits), nil
	}
	return caller{}, nil
}

// fit adds a turn to fits if it made the calls that the client sends back.
func (l *Log) fit(ctx context.Context, owner, id string, shared int, said *chat.Message, fits []caller) ([]caller, error) {
	t, err := l.turn(ctx, owner, id)
	if err != nil || shared < 1 || shared > len(t.Trace) {
		return fits, err
	}
	if said != nil && !same(*said, t.Trace[shared-1]) {
		return fits, nil
	}
	return append(fits, caller{t, shared}), nil
}

// preferred is the first that still waits, else the first: newest first.
func preferred(fits []caller) caller {
	for _, c := range fits {
		if c.turn.Status == record.StatusAwaiting {
			return c
		}
	}
	if len(fits) > 0 {
		return fits[0]
	}
	return caller{}
}

// sole reports whether the turns are one and its siblings: engines that number
// their calls from zero must not join two conversations.
func sole(fits []caller) bool {
	for _, c := range fits {
		first := fits[0].turn
		if c.turn.Parent != first.Parent || c.turn.begin(link{}) != first.begin(link{}) {
			return false
		}
	}
	return len(fits) > 0
}

// results picks the results of all calls, each once, in the client's order.
func results(calls []chat.ToolCall, messages []chat.Message) ([]chat.Message, error) {
	open := map[string]bool{}
	for _, c := range calls {
		open[c.ID] = true
	}
	var picked []chat.Message
	for i, m := range messages {
		if m.Role != chat.Tool {
			continue
		}
		waits, known := open[m.ToolCallID]
		if !known {
			if i == len(messages)-1 {
				return nil, orphan(m.ToolCallID)
			}
			continue
		}
		if !waits {
			return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("tool call %.80q is answered twice", m.ToolCallID), "send one result for each call").In("messages")
		}
		open[m.ToolCallID] = false
		picked = append(picked, m)
	}
	if missing := len(calls) - len(picked); missing > 0 {
		return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("%d of %d tool calls have no result", missing, len(calls)), "send one result for each call").In("messages")
	}
	return picked, nil
}

func orphan(id string) error {
	return errs.New(errs.OrphanToolTurn, fmt.Sprintf("no open tool call has the id %.80q", id),
		"send the assistant message with this tool call before its result").In("messages")
}

// importCalls makes a turn of tool results whose calls are not ours but in the
// request: new is everything from the last user message before the calls on.
func (l *Log) importCalls(ctx context.Context, p *Position, r request, at int) error {
	user := -1
	for i := 0; i < at; i++ {
		if r.messages[i].Role == chat.User {
			user = i
		}
	}
	if user < 0 {
		return orphan(r.messages[len(r.messages)-1].ToolCallID)
	}
	before := r
	before.messages, before.links = r.messages[:user+1], r.links[:user+1]
	if err := l.resolveUser(ctx, p, before); err != nil {
		return err
	}
	p.User = slices.Concat(p.User, r.messages[user+1:])
	return nil
}

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
		if err := settle(&r); err != nil {
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
