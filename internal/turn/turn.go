// Package turn serves one user request until its final answer: exactly one
// specialist, chosen explicitly, answers; the turn is in the log before the client
// is told that it ended; the summary follows in the background.
package turn

import (
	"context"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/route"
	"macaron/internal/session"
)

// Run serves a request and tells out of it. The whole life of a turn stands here:
// wait for a place; refuse what the backend cannot do; find the conversation by its
// content; pin the contract and commit that the turn began; choose the specialist;
// build its own view; stream its answer (together.go has the turn that several of them answer); commit how the turn closed; only then say
// so. An error that Run returns was not told to out.
func (r *Runner) Run(ctx context.Context, q Request, out Sink) (err error) {
	ctx, span := r.span(ctx, &q)
	if span != nil {
		defer func() { span.End(err) }()
	}
	leave, err := r.Queue.Enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := r.check(q); err != nil {
		return err
	}
	o, wants := out.(Opener)
	l, err := r.open(ctx, q, wants)
	if err != nil {
		return err
	}
	l.span = span
	defer l.abandon(&err)
	if wants {
		if err = o.Opened(l.report()); err != nil {
			return gone(err)
		}
	}
	parts, err := l.plan(ctx)
	if err != nil {
		return err
	}
	if parts != nil {
		defer r.Summaries.Wake()
		err = l.together(ctx, parts, out)
		return err
	}
	if err = l.choose(ctx); err != nil {
		return err
	}
	if _, early := out.(Early); early {
		if err = l.Sessions.Settle(ctx, l.turn); err != nil {
			return err
		}
	}
	if err = out.Chosen(l.report()); err != nil {
		return gone(err)
	}
	request, err := l.prompt(ctx)
	if err != nil {
		return err
	}
	answer, err := l.answer(ctx, request, out)
	if err != nil {
		return err
	}
	if err = l.close(ctx, answer); err != nil {
		return err
	}
	defer r.Summaries.Wake()
	l.tell(out, answer.Finish.Reason, answer.Finish.Stop)
	return nil
}

// tell says that the turn is delivered, as it is as of the commit: a client that left since
// then finds it when it comes back.
func (l *life) tell(out Sink, why chat.FinishReason, stop string) {
	report := l.report()
	report.Stop = stop
	if err := out.Done(report, why, l.usage()); err != nil {
		l.Log.Debug("the client left before the end of a delivered turn", "turn", l.turn.ID, "err", err)
	}
}

// life is one request on its way through Run.
type life struct {
	*Runner
	request  Request
	position session.Position
	turn     *session.Turn
	contract *contract.Contract // pinned
	catalog  Catalog            // current
	decision record.RouteDecision
	asked    route.Question      // that was decided
	hops     []record.Hop        // model calls of this request
	sent     backend.Request     // the answer hop
	lost     []session.Served    // hops that did not come to their end
	parts    []record.JoinedPart // of a turn that several specialists answered
	closed   bool
	watched  bool // somebody may look at the turn in the log while it goes on
	span     Span // nil: nobody traces
}

// open finds the conversation and begins the turn: in the log at once if somebody may look
// at it there while it goes on, else soon. A turn that goes on with tool results keeps the
// contract that it is pinned to.
func (r *Runner) open(ctx context.Context, q Request, watched bool) (*life, error) {
	where := session.Where{Owner: q.Owner, Scope: q.Scope, Session: q.Session, ParentTurn: q.ParentTurn, Trace: q.Trace}
	position, err := r.Sessions.Resolve(ctx, where, q.Messages)
	if err != nil {
		return nil, err
	}
	catalog, err := r.Catalogue.Current(ctx, q.Owner, q.User, position.Conversation(r.IDs))
	if err == nil {
		err = withheld(catalog, q, &position)
	}
	if err == nil {
		catalog, err = r.able(catalog, q, &position)
	}
	if err == nil && position.Continue == nil { // an open turn may outlive its adapter
		err = known(catalog, q.Adapter)
	}
	if err != nil {
		return nil, err
	}
	turn, err := r.Sessions.Begin(ctx, position, session.Opening{
		Request: q.ID, Contract: catalog.Contract.Hash(), Pair: catalog.Pair, Purpose: q.Purpose, Consent: q.Consent,
		Tools: q.Tools, Choice: q.ToolChoice, Forced: q.Adapter, Asked: q.Asked,
		Soon: !watched && catalog.Contract.Split == nil, // parts name the whole
	})
	if err != nil {
		return nil, err
	}
	l := &life{Runner: r, request: q, position: position, turn: turn, contract: catalog.Contract, catalog: catalog, watched: watched}
	if turn.Contract == catalog.Contract.Hash() {
		return l, nil
	}
	if l.contract, err = r.Catalogue.Contract(turn.Contract); err != nil {
		l.abandon(&err)
		return nil, err
	}
	return l, nil
}

// close commits the end: delivered, or waiting for the results of tool calls.
func (l *life) close(ctx context.Context, a *backend.Collected) error {
	served := l.answered(a)
	if ctx.Err() != nil { // the client left before the end: it saw nothing finished
		served.Hop.Error = string(errs.Canceled)
		l.lost = append(l.lost, served)
		return errs.Wrap(errs.Canceled, context.Cause(ctx), "the client went away", "")
	}
	status := record.StatusDelivered
	if a.Finish.Reason == chat.FinishTools {
		status = record.StatusAwaiting
	}
	if err := l.Sessions.Close(ctx, l.turn, status, "", served); err != nil {
		return err
	}
	l.closed = true
	l.count(served.Hop)
	l.Meter.Turn(string(status))
	l.Meter.Answer(l.decision.Label)
	l.note(status, "")
	return nil
}

// note writes the operator's one line of a turn, and tells its span: who and how, never what.
func (l *life) note(status record.Status, reason string) {
	u, log := l.usage(), l.Log
	if l.span != nil {
		l.span.Closed(l.report(), status, reason)
		log = log.With("trace", l.span.Trace())
	}
	log.Info("turn", "turn", l.turn.ID, "session", l.turn.Session, "request", l.request.ID, "status", string(status), "cause", reason,
		"adapter", l.decision.Label, "route", l.decision.Reason, "probability", l.decision.Probabilities[l.decision.Label],
		"prompt_tokens", u.PromptTokens, "cached_tokens", u.CachedTokens, "output_tokens", u.OutputTokens, "model_ms", u.Total.Milliseconds())
}

// abandon closes a turn that did not come to its end, for whatever reason, a panic
// included: it stays in the log as interrupted and never becomes history.
func (l *life) abandon(cause *error) {
	if l.closed {
		return
	}
	l.closed = true
	reason := "panic"
	if *cause != nil {
		reason = string(errs.CodeOf(*cause))
	}
	// Of its own context: the request's has usually ended.
	ctx, stop := context.WithTimeout(context.Background(), closing)
	defer stop()
	if err := l.Sessions.Close(ctx, l.turn, record.StatusInterrupted, reason, l.lost...); err != nil {
		l.Log.Error("a turn could not be closed as interrupted", "turn", l.turn.ID, "reason", reason, "err", err)
		return
	}
	l.Meter.Turn(string(record.StatusInterrupted))
	l.note(record.StatusInterrupted, reason)
}
