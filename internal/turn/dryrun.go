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
	return r.decide(ctx, q.Owner, q.User, func(c Catalog) (route.Question, error) {
		if err := r.check(q); err != nil {
			return route.Question{}, err
		}
		where := session.Where{Owner: q.Owner, Scope: q.Scope, Session: q.Session, ParentTurn: q.ParentTurn, Trace: q.Trace}
		p, err := r.Sessions.Resolve(ctx, where, q.Messages)
		if err != nil {
			return route.Question{}, err
		}
		if c, err = r.able(c, q, &p); err != nil {
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
	return r.decide(ctx, owner, user, func(c Catalog) (route.Question, error) {
		q := r.question(c.Contract, c, owner, user, &session.Position{})
		q.Text, q.Previous = text, previous
		return q, nil
	})
}

func (r *Runner) decide(ctx context.Context, owner, user string, ask func(Catalog) (route.Question, error)) (Report, error) {
	leave, err := r.Queue.Enter(ctx)
	if err != nil {
		return Report{}, err
	}
	defer leave()
	catalog, err := r.Catalogue.Current(ctx, owner, user)
	if err != nil {
		return Report{}, err
	}
	q, err := ask(catalog)
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
	if h := outcome.Hop; h.Engine.Name != "" {
		report.Hops = append(report.Hops, hopReport(h))
	}
	return report, nil
}
