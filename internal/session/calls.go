package session

import (
	"context"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
)

// resolveCalls places a request behind the tool calls of the turn that it names. Results
// at its end continue that turn; a user's words leave the calls behind, with the results
// that came before them.
func (l *Log) resolveCalls(ctx context.Context, p *Position, r request) error {
	turns, err := l.History(ctx, r.Owner, r.ParentTurn)
	if err != nil {
		return err
	}
	n := len(turns) - 1
	t := &turns[n]
	if r.Trace > len(t.Trace) || len(t.Trace[r.Trace-1].ToolCalls) == 0 {
		return errs.New(errs.NotFound, "the turn has no such tool calls", "name the answer that made them")
	}
	if same(r.messages[0], t.Trace[r.Trace-1]) { // sent again before its results
		r.messages = r.messages[1:]
	}
	if len(r.messages) == 0 {
		return errs.New(errs.InvalidRequest, "there is nothing new after the tool calls", "send their results, or a user message").In("messages")
	}
	if r.messages[len(r.messages)-1].Role != chat.Tool {
		return l.afterLeft(ctx, p, r, 0, record.Chain{Turn: t.ID, Messages: r.Trace})
	}
	t.Scope = r.Scope
	p.Continue, p.shared = t, r.Trace
	p.History, p.Parent, p.Session = turns[:n:n], t.Parent, t.Session
	p.Results, err = results(t.Trace[r.Trace-1].ToolCalls, r.messages)
	return err
}
