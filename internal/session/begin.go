package session

import (
	"context"
	"errors"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// Opening is what Begin records besides the messages.
type Opening struct {
	Request  string
	Run      string
	Contract ids.Digest
	Purpose  record.Purpose // "" means production
	Consent  record.Consent // "" means none
	Tools    []chat.ToolDef
	Choice   chat.ToolChoice
	Forced   string
	Asked    *record.Asked  // what a wire format must tell again of the request, or nil
	Part     *record.PartOf // the turn answers a part of that turn, or nil
	Pair     *record.Pair   // that it begins with, or nil
	Soon     bool           // nobody asks for the turn before it closes: its beginning may share that commit
}

// Begin opens the turn of a position. A position with Continue set goes on with
// that turn or, when that has moved on, with a sibling that shares its trace; either
// way Revision and Contract are pinned, and there is nothing to route.
func (l *Log) Begin(ctx context.Context, p Position, o Opening) (*Turn, error) {
	if p.Continue == nil {
		return l.openTurn(ctx, p, o, p.Imported, p.User, nil)
	}
	if p.Continue.Status == record.StatusAwaiting && p.shared == len(p.Continue.Trace) {
		t, err := l.resume(ctx, p, o)
		if !errors.Is(err, record.ErrConflict) {
			return t, err
		}
	}
	return l.sibling(ctx, p, o)
}

// resume gives the waiting turn its results. record.ErrConflict: it waits no more.
func (l *Log) resume(ctx context.Context, p Position, o Opening) (*Turn, error) {
	t := *p.Continue
	t.start = t.begin(end(p.History))
	body := record.ToolResults{Messages: p.Results, Asked: o.Asked}
	if walkAll(t.System) != walkAll(p.System) {
		body.System = &p.System
	}
	return &t, l.advance(ctx, &t, expecting(&t, record.StatusAwaiting), l.record(&t, body))
}

// walkAll hashes messages with the system ones, to compare them.
func walkAll(messages []chat.Message) (at link) {
	for _, m := range messages {
		m.Role = chat.User
		at = extend(at, m)
	}
	return at
}

// sibling opens a turn beside one that was retried, or that goes on elsewhere.
func (l *Log) sibling(ctx context.Context, p Position, o Opening) (*Turn, error) {
	from := p.Continue
	o.Contract, o.Pair, o.Forced = from.Contract, from.Pair, from.Forced
	switch {
	case p.Where.Session != "":
		p.Session = p.Where.Session
	case from.Status == record.StatusDelivered:
		p.Session, p.ForkedFrom = "", from.Parent
	}
	shared := &record.Continued{Turn: from.ID, Adapter: from.Revision, Trace: from.Trace[:p.shared]}
	return l.openTurn(ctx, p, o, from.Imported, from.User, shared)
}

func (l *Log) openTurn(ctx context.Context, p Position, o Opening, imported, user []chat.Message, shared *record.Continued) (*Turn, error) {
	t := &Turn{
		ID: l.ids.New(ids.Turn), Session: p.Session, Parent: p.Parent, Owner: p.Where.Owner, Scope: p.Where.Scope,
		Run: o.Run, Request: o.Request, Contract: o.Contract, Purpose: o.Purpose, Consent: o.Consent,
	}
	if t.Purpose == "" {
		t.Purpose = record.Production
	}
	if t.Consent == "" {
		t.Consent = record.ConsentNone
	}
	batch := record.Batch{Records: p.left, Chains: p.link}
	if len(p.left) > 0 {
		batch.Queue = []record.Ref{{Owner: t.Owner, Session: t.Session, Turn: p.Parent}}
	}
	if t.Session == "" {
		if t.Session = p.opens; t.Session == "" {
			t.Session = l.ids.New(ids.Session)
		}
		p.Session = t.Session
		batch.Records = append(batch.Records, l.sessionOpened(&p, t, user))
	}
	opened := record.TurnOpened{
		System: p.System, Imported: imported, Messages: user, Tools: o.Tools, Choice: o.Choice, Forced: o.Forced, Continued: shared, Part: o.Part, Pair: o.Pair,
	}
	if shared == nil {
		opened.Asked = o.Asked
	}
	records := []record.Record{l.record(t, opened)}
	if shared != nil {
		t.Revision = shared.Adapter
		records = append(records, l.record(t, record.ToolResults{Messages: p.Results, Asked: o.Asked}))
	}
	write := l.advance
	if o.Soon && shared == nil && len(p.left) == 0 && len(p.link) == 0 {
		write = l.hold
	}
	if err := write(ctx, t, batch, records...); err != nil {
		return nil, err
	}
	t.start = t.begin(end(p.History))
	return t, nil
}

// sessionOpened opens p's session with the heads of its first turn.
func (l *Log) sessionOpened(p *Position, t *Turn, user []chat.Message) record.Record {
	body := record.SessionOpened{ForkedFrom: p.ForkedFrom, Root: p.Session, Scope: p.Where.Scope, Title: title(lastUser(user).Text())}
	if len(p.History) > 0 && p.ForkedFrom != "" {
		body.Root = p.root()
	}
	r := l.record(t, body)
	r.Session, r.Turn, r.ParentTurn, r.Revision = p.Session, "", "", ""
	return r
}

// Conversation names the session where the conversation began: of a new one that which Begin
// will open. It stays the same over edits and retries of later turns, which fork.
func (p *Position) Conversation(source *ids.Source) string {
	switch {
	case len(p.History) > 0:
		return p.root()
	case p.Continue != nil:
		return p.Continue.Session
	case p.Session != "":
		return p.Session
	case p.opens == "":
		p.opens = source.New(ids.Session)
	}
	return p.opens
}

// root is the session where the conversation began.
func (p *Position) root() string { return p.History[0].Session }

// title is the beginning of a text, on one line.
func title(text string) string {
	words := strings.Join(strings.Fields(text), " ")
	if runes := []rune(words); len(runes) > 80 {
		return string(runes[:80]) + "..."
	}
	return words
}
