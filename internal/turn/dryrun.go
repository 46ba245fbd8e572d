package turn

import (
	"context"

	"macaron/internal/contract"
	"macaron/internal/route"
	"macaron/internal/session"
)

// Dry decides who would take a request, and does nothing else: the conversation is found
// and the router asked as for a turn, but no turn is opened and nothing is logged.
func (r *Runner) Dry(ctx context.Context, q Request) (Report, error) {
	place := func() (p session.Position, err error) {
		if err = r.check(q); err == nil {
			p, err = r.Sessions.Resolve(ctx, session.Where{Owner: q.Owner, Scope: q.Scope, Session: q.Session, ParentTurn: q.ParentTurn, Trace: q.Trace}, q.Messages)
		}
		return p, err
	}
	return r.decide(ctx, q.Owner, q.User, place, func(c Catalog, p session.Position) (route.Question, error) {
		c, err := r.able(c, q, &p)
		if err != nil {
			return route.Question{}, err
		}
		question := r.question(c.Contract, c, q.Owner, q.User, &p)
		question.Forced = q.Adapter
		if r.overlays(c.Contract, &p, q.Tools) {
			if view, err := neutral(c.Contract, &p); err == nil { // else a summary is not final, which only a turn makes it
				question.View = view
			}
		}
		if p.Continue != nil {
			question.Pinned = p.Continue.Revision.Name
		}
		return question, nil
	})
}

// Route is Dry for a text without a conversation. previous is the turn before, or nil.
func (r *Runner) Route(ctx context.Context, owner, user, text string, previous *contract.Previous) (Report, error) {
	nowhere := func() (session.Position, error) { return session.Position{}, nil }
	return r.decide(ctx, owner, user, nowhere, func(c Catalog, p session.Position) (route.Question, error) {
		q := r.question(c.Contract, c, owner, user, &p)
		q.Text, q.Previous = text, previous
		return q, nil
	})
}

func (r *Runner) decide(ctx context.Context, owner, user string, place func() (session.Position, error), ask func(Catalog, session.Position) (route.Question, error)) (Report, error) {
	leave, err := r.Queue.Enter(ctx)
	if err != nil {
		return Report{}, err
	}
	defer leave()
	p, err := place()
	if err != nil {
		return Report{}, err
	}
	catalog, err := r.Catalogue.Current(ctx, owner, user, p.Conversation(r.IDs))
	if err != nil {
		return Report{}, err
	}
	q, err := ask(catalog, p)
	if err != nil {
		return Report{}, err
	}
	outcome, err := route.Decide(ctx, r.Generator, q)
	if err != nil {
		return Report{}, err
	}
	d := outcome.Decision
	target, _ := catalog.Find(d.Label)
	report := Report{
		Session: q.Session, Adapter: d.Label, Revision: target.Hash, Reason: d.Reason, Cause: d.Error,
		Preferred: d.Preferred, Offered: d.Offered, Probabilities: d.Probabilities, Contract: catalog.Contract.Hash(),
	}
	report.pair(catalog.Pair)
	if h := outcome.Hop; h.Engine.Name != "" {
		report.Hops = append(report.Hops, hopReport(h))
	}
	return report, nil
}
