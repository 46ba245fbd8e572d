package session

import (
	"context"
	"fmt"
	"slices"

	"macaron/internal/chat"
	"macaron/internal/errs"
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
