package turn

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/ownview"
	"macaron/internal/record"
	"macaron/internal/session"
)

// Where nobody counts tokens one is taken for so many bytes.
const bytesPerToken = 3

// room of a message's own marks in the cheapest bound of a prompt, in tokens.
const marksPerMessage = 32

// fit holds a request to the window. A view that outgrows it is refused with the numbers,
// or, if the contract wants that, shortened from its oldest turn on, on the record. It is
// never cut silently.
func (l *life) fit(ctx context.Context, q backend.Request) (backend.Request, error) {
	limit := l.contract.Fits(l.Generator.Capabilities().Context)
	if limit == 0 || bound(q) <= limit {
		return q, nil
	}
	m := measure{l: l, q: q, history: session.Views(l.position.History)}
	n, err := m.tokens(ctx, q.Messages)
	switch {
	case err != nil || n <= limit:
		return q, err
	case !l.contract.Compacts() && m.guessed:
		return q, nil // the engine knows better
	case !l.contract.Compacts() || len(l.position.History) == 0:
		return q, tooLong(n, limit, "")
	}
	if err := l.settle(ctx); err != nil {
		return q, err
	}
	m.history = session.Views(l.position.History)
	c, err := m.compact(ctx, n, limit)
	if err != nil {
		return q, err
	}
	if err := l.Sessions.RecordCompacted(ctx, l.turn, c); err != nil {
		return q, err
	}
	q.Messages, err = ownview.Build(l.contract, m.history, l.turn.View(), q.Revision.Name)
	return q, err
}

func tooLong(n, limit int, more string) error {
	return errs.New(errs.ContextExceeded, fmt.Sprintf("the prompt has %d tokens and %d fit the window besides the answer%s", n, limit, more),
		"start a new conversation, send less, or have the contract compact views ([view] overflow)").In("messages")
}

// bound is how many tokens a prompt has at most: no token is less than a byte.
func bound(q backend.Request) int {
	n := len(q.ToolPrompt)
	for _, t := range q.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Parameters) + 2*marksPerMessage
	}
	for _, m := range q.Messages {
		n += size(m)
	}
	return n
}

func size(m chat.Message) int {
	n := marksPerMessage + len(m.Reasoning)
	for _, p := range m.Parts {
		n += len(p.Text) + len(p.Raw)
	}
	for _, c := range m.ToolCalls {
		n += len(c.Name) + len(c.Arguments) + marksPerMessage
	}
	return n
}

// settle makes the summaries of all turns of the history final, those of the specialist's
// own too, since any may be shortened.
func (l *life) settle(ctx context.Context) error {
	var open []*session.Turn
	var missing []string
	for i := range l.position.History {
		t := &l.position.History[i]
		if t.SummaryFinal {
			continue
		}
		open = append(open, t)
		if t.SummarySource == "" {
			missing = append(missing, t.ID)
		}
	}
	return l.use(ctx, open, missing)
}

// use waits for missing summaries as long as the contract allows and makes those of the
// given turns final; an extract stands for one that has not come.
func (l *life) use(ctx context.Context, turns []*session.Turn, missing []string) error {
	if len(missing) > 0 {
		wait, stop := context.WithTimeout(ctx, time.Duration(l.contract.Budgets.SummaryWaitMS)*time.Millisecond)
		l.Summaries.Await(wait, l.turn.Owner, missing)
		stop()
		if ctx.Err() != nil {
			return errs.Wrap(errs.Canceled, context.Cause(ctx), "the client went away", "")
		}
	}
	if len(turns) == 0 {
		return nil
	}
	return l.Sessions.UseSummaries(ctx, turns, func(t *session.Turn) string { return l.contract.Extract(t.Answer()) })
}

// measure counts the tokens of views of one turn.
type measure struct {
	l       *life
	q       backend.Request
	history []ownview.Turn
	guessed bool
}

func (m *measure) tokens(ctx context.Context, view []chat.Message) (int, error) {
	q := m.q
	q.Messages = view
	n, err := backend.Count(ctx, m.l.Generator, q)
	if errs.CodeOf(err) == errs.Unsupported {
		m.guessed = true
		return bound(q) / bytesPerToken, nil
	}
	if err != nil {
		return 0, shown(err)
	}
	return n, nil
}

// compact finds how much is to be shortened: as few turns as bring the prompt to three
// quarters of the limit, so that the next turns find their prefix unchanged; if shortening
// all is not enough, as few as possible of the oldest are left out.
func (m *measure) compact(ctx context.Context, before, limit int) (record.Compacted, error) {
	all, goal := len(m.history), limit*3/4
	at := func(turns, dropped int) (c record.Compacted, err error) {
		c = record.Compacted{Adapter: m.q.Revision.Name, Turns: turns, Dropped: dropped, Keep: m.l.contract.View.Keep, Before: before, Limit: limit, Guessed: m.guessed}
		now := m.l.turn.View()
		now.Compacted = append(slices.Clone(now.Compacted), c)
		view, err := ownview.Build(m.l.contract, m.history, now, c.Adapter)
		if err == nil {
			c.Tokens, err = m.tokens(ctx, view)
		}
		return c, err
	}
	var failed error
	fits := func(turns, dropped int) bool {
		c, err := at(turns, dropped)
		failed = err
		return err != nil || c.Tokens <= goal
	}
	turns, dropped := sort.Search(all, func(i int) bool { return fits(i+1, 0) })+1, 0
	if turns > all {
		turns = all
		dropped = sort.Search(all, func(i int) bool { return fits(all, i+1) }) + 1
		dropped = min(dropped, all)
	}
	if failed != nil {
		return record.Compacted{}, failed
	}
	c, err := at(turns, dropped)
	if err == nil && c.Tokens > limit {
		err = tooLong(c.Tokens, limit, " even without the history")
	}
	return c, err
}
