package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// Served is a hop that ended, with what it served if the backend told.
type Served struct {
	Hop  record.Hop
	Blob *record.Blob
}

// RecordHop appends a hop. An answer hop without Error adds its Message to the
// trace and pins the turn's revision. It is written even when ctx has ended.
func (l *Log) RecordHop(ctx context.Context, t *Turn, h Served) error {
	return l.advance(ctx, t, record.Batch{}, l.hop(t, h))
}

// AddToolResults appends the client's results to a turn that waits for them. Begin
// does it for a position; here is the bare step. errs.OrphanToolTurn if the turn
// does not wait.
func (l *Log) AddToolResults(ctx context.Context, t *Turn, results []chat.Message) error {
	err := l.advance(ctx, t, expecting(t, record.StatusAwaiting), l.record(t, record.ToolResults{Messages: results}))
	if errors.Is(err, record.ErrConflict) {
		return errs.New(errs.OrphanToolTurn, "the turn does not wait for tool results", "send the whole conversation again")
	}
	return err
}

// Close commits how the turn ended, with last hops in the same commit: delivered,
// awaiting tools, or interrupted. Call it before the terminal event is sent. A turn
// interrupted after tool calls that the client saw waits for their results again.
// It is written even when ctx has ended.
func (l *Log) Close(ctx context.Context, t *Turn, status record.Status, reason string, last ...Served) error {
	records := make([]record.Record, 0, len(last)+1)
	after := *t
	for _, h := range last {
		r := l.hop(t, h)
		if err := r.Settle(); err != nil {
			return err
		}
		records = append(records, r)
		after.apply(r)
	}
	batch := expecting(t, record.StatusOpen)
	switch status {
	case record.StatusDelivered:
		if len(after.Trace) == 0 {
			return errs.Newf(errs.Internal, "turn %s has no answer to deliver", t.ID)
		}
		if t.Part == nil { // no client knows a part's conversation
			batch.Chains = []record.Chain{after.chain(true)}
		}
		batch.Queue = []record.Ref{t.ref()}
	case record.StatusAwaiting:
		if err := awaitable(&after); err != nil {
			return err
		}
		batch.Chains = []record.Chain{after.chain(false)}
		batch.Calls = after.calls()
	case record.StatusInterrupted:
	default:
		return errs.Newf(errs.Internal, "a turn cannot be closed as %q", status)
	}
	records = append(records, l.record(t, record.TurnClosed{Status: status, Reason: reason}))
	err := l.advance(ctx, t, batch, records...)
	if errors.Is(err, record.ErrConflict) {
		return errs.Wrap(errs.Internal, err, fmt.Sprintf("turn %s is not open any more", t.ID), "")
	}
	return err
}

// awaitable refuses calls whose results could not be told apart.
func awaitable(t *Turn) error {
	if len(t.Trace) == 0 || len(t.Trace[len(t.Trace)-1].ToolCalls) == 0 {
		return errs.Newf(errs.Internal, "turn %s has no tool calls to wait for", t.ID)
	}
	seen := map[string]bool{}
	for _, c := range t.Trace[len(t.Trace)-1].ToolCalls {
		if c.ID == "" || seen[c.ID] {
			return errs.Newf(errs.Internal, "turn %s has tool calls without ids of their own", t.ID)
		}
		seen[c.ID] = true
	}
	return nil
}

func (t *Turn) ref() record.Ref { return record.Ref{Owner: t.Owner, Session: t.Session, Turn: t.ID} }

// chain is the index entry of the turn as it stands.
func (t *Turn) chain(ending bool) record.Chain {
	return record.Chain{
		Owner: t.Owner, Scope: t.Scope, Hash: walk(t.start, t.Trace),
		Session: t.Session, Turn: t.ID, Messages: len(t.Trace), End: ending,
	}
}

// calls is the index entries of the turn's last tool calls.
func (t *Turn) calls() []record.Call {
	var all []record.Call
	for _, c := range t.Trace[len(t.Trace)-1].ToolCalls {
		all = append(all, record.Call{Owner: t.Owner, Scope: t.Scope, ID: c.ID, Session: t.Session, Turn: t.ID, Messages: len(t.Trace)})
	}
	return all
}

func expecting(t *Turn, s record.Status) record.Batch {
	return record.Batch{Expect: []record.Expect{{Owner: t.Owner, Turn: t.ID, Status: s}}}
}

// advance commits records of a turn, behind those of it that wait, and then applies them to it.
func (l *Log) advance(ctx context.Context, t *Turn, b record.Batch, records ...record.Record) error {
	if err := settle(records); err != nil {
		return err
	}
	waiting := t.later.take()
	if opens(waiting) { // in this very batch: nobody else can have closed it
		b.Expect = nil
	}
	b.Records = slices.Concat(b.Records, waiting, records)
	if len(b.Records) == 0 { // written meanwhile
		return nil
	}
	if err := l.store.Append(context.WithoutCancel(ctx), b); err != nil {
		t.later.back(waiting)
		return err
	}
	for _, r := range records {
		t.apply(r)
	}
	return nil
}

func settle(records []record.Record) error {
	for i := range records {
		if err := records[i].Settle(); err != nil {
			return err
		}
	}
	return nil
}

// opens reports whether a turn's beginning is among its records.
func opens(records []record.Record) bool {
	return slices.ContainsFunc(records, func(r record.Record) bool { return r.Body.Kind() == record.KindTurnOpened })
}

// record makes a record of a turn.
func (l *Log) record(t *Turn, body record.Body) record.Record {
	return record.Record{Body: body, Head: record.Head{
		ID: l.ids.New(ids.Record), Owner: t.Owner, Session: t.Session, Run: t.Run, Turn: t.ID, ParentTurn: t.Parent,
		Request: t.Request, Time: l.clock.Now().Round(0).UTC(), Contract: t.Contract, Revision: t.Revision.Hash,
		Purpose: t.Purpose, Consent: t.Consent,
	}}
}

// hop is record for a hop: under the revision that ran it.
func (l *Log) hop(t *Turn, h Served) record.Record {
	if h.Hop.ID == "" {
		h.Hop.ID = l.ids.New(ids.Hop)
	}
	r := l.record(t, h.Hop)
	r.Revision, r.Blob = h.Hop.Adapter.Hash, h.Blob
	return r
}
