package turn

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/route"
	"macaron/internal/session"
	"macaron/internal/split"
)

// together has several specialists answer, each its part in a turn of its own, and joins
// what they say in the order of the parts. Those that build on another part wait for it,
// the others run at once. If one fails, all do.
func (l *life) together(ctx context.Context, plan []split.Part, out Sink) error {
	l.decision = record.RouteDecision{Label: split.Labels(plan), Reason: route.Split}
	l.Meter.Route(route.Split)
	decided := record.Hop{ID: l.IDs.New(ids.Hop), Hop: record.HopRoute, Route: &l.decision}
	if err := l.Sessions.NoteHop(ctx, l.turn, session.Served{Hop: decided}); err != nil {
		return err
	}
	if err := out.Chosen(l.report()); err != nil {
		return gone(err)
	}
	g := newGroup(ctx, l, plan, out)
	if err := g.run(); err != nil {
		return err
	}
	joined := g.joined()
	l.parts = joined.Parts
	for _, p := range g.parts {
		l.hops = append(l.hops, p.life.hops...)
	}
	if ctx.Err() != nil { // the client left before the end: it saw nothing finished
		return errs.Wrap(errs.Canceled, context.Cause(ctx), "the client went away", "")
	}
	if err := l.Sessions.RecordJoined(ctx, l.turn, joined); err != nil {
		return err
	}
	if err := l.Sessions.Close(ctx, l.turn, record.StatusDelivered, ""); err != nil {
		return err
	}
	l.closed = true
	l.Meter.Turn(string(record.StatusDelivered))
	l.note(record.StatusDelivered, "")
	l.tell(out, joined.Finish, "")
	return nil
}

// group is the parts of one turn.
type group struct {
	whole *life
	ctx   context.Context
	stop  context.CancelCauseFunc
	out   *joiner
	parts []*member
}

// member is one part on its way.
type member struct {
	split.Part
	index int
	life  *life
	said  string
	why   chat.FinishReason
	done  chan struct{}
}

func newGroup(ctx context.Context, l *life, plan []split.Part, out Sink) *group {
	g := &group{whole: l, out: &joiner{out: out, held: make([][]chat.Event, len(plan)), ended: make([]bool, len(plan))}}
	g.ctx, g.stop = context.WithCancelCause(ctx)
	for i, p := range plan {
		g.parts = append(g.parts, &member{Part: p, index: i, done: make(chan struct{})})
	}
	return g
}

func (g *group) run() error {
	defer g.stop(nil)
	var all sync.WaitGroup
	for _, m := range g.parts {
		all.Go(func() {
			if err := g.answer(m); err != nil {
				g.stop(err) // the first one counts
			}
			close(m.done)
		})
	}
	all.Wait()
	if cause := context.Cause(g.ctx); cause != nil {
		return gone(cause)
	}
	return nil
}

// answer serves one part as a turn.
func (g *group) answer(m *member) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errs.New(errs.Internal, fmt.Sprintf("part %d of turn %s panicked: %v", m.index+1, g.whole.turn.ID, p), "")
		}
	}()
	if m.After > 0 {
		select {
		case <-g.parts[m.After-1].done:
		case <-g.ctx.Done():
		}
	}
	if g.ctx.Err() != nil {
		return nil // another part has told why
	}
	l, err := g.open(m)
	if err != nil {
		return err
	}
	m.life = l
	defer l.abandon(&err)
	request, err := l.prompt(g.ctx)
	if err != nil {
		return err
	}
	answer, err := l.answer(g.ctx, request, &partSink{g.out, m.index})
	if err != nil {
		return err
	}
	if err := l.close(g.ctx, answer); err != nil {
		return err
	}
	l.Summaries.Wake()
	m.said, m.why = answer.Text(), answer.Finish.Reason
	if err := g.out.end(m.index); err != nil {
		return gone(err)
	}
	return nil
}

// open begins the part's turn: behind the turns that the whole one follows, or behind the
// part that it builds on.
func (g *group) open(m *member) (*life, error) {
	w := g.whole
	p := session.Position{
		Where: w.position.Where, Session: w.turn.Session, Parent: w.position.Parent, History: slices.Clone(w.position.History),
		System: w.position.System, Imported: w.position.Imported, User: []chat.Message{chat.Text(chat.User, m.Text)},
	}
	if m.After > 0 {
		before := g.parts[m.After-1].life
		p.Parent, p.History, p.Imported = before.turn.ID, append(slices.Clone(before.position.History), *before.turn), nil
	}
	q := w.request
	if q.MaxTokens > 0 { // what the client allows is for the whole
		q.MaxTokens = max(1, q.MaxTokens/len(g.parts))
	}
	turn, err := w.Sessions.Begin(g.ctx, p, session.Opening{
		Request: q.ID, Contract: w.contract.Hash(), Purpose: q.Purpose, Consent: q.Consent,
		Part: &record.PartOf{Turn: w.turn.ID, Index: m.index},
	})
	if err != nil {
		return nil, err
	}
	l := &life{Runner: w.Runner, request: q, position: p, turn: turn, contract: w.contract, catalog: w.catalog}
	l.decision = record.RouteDecision{Label: m.Label, Reason: route.Split, Probabilities: m.Probabilities}
	decided := record.Hop{ID: l.IDs.New(ids.Hop), Hop: record.HopRoute, Route: &l.decision}
	if err := l.Sessions.NoteHop(g.ctx, turn, session.Served{Hop: decided}); err != nil {
		l.abandon(&err)
		return nil, err
	}
	return l, nil
}

// joined is the record of what the parts add up to.
func (g *group) joined() record.Joined {
	j := record.Joined{Finish: chat.FinishStop, Message: g.out.all.Message()}
	for _, m := range g.parts {
		l := m.life
		j.Parts = append(j.Parts, record.JoinedPart{
			Turn: l.turn.ID, Adapter: l.turn.Revision, Request: m.Text, Text: m.said, After: m.After, Usage: l.usage(),
		})
		if m.why != chat.FinishStop {
			j.Finish = m.why
		}
	}
	return j
}
