package turn

import (
	"context"
	"errors"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/ownview"
	"macaron/internal/record"
	"macaron/internal/route"
	"macaron/internal/session"
	"macaron/internal/ui4a/grammar"
)

// choose settles the adapter and its revision, and logs the decision.
func (l *life) choose(ctx context.Context) error {
	q := l.question(l.contract, l.catalog, l.turn.Owner, l.request.User, &l.position)
	q.Text, q.Forced, q.Pinned, q.Session = l.turn.Text(), l.request.Adapter, l.turn.Revision.Name, l.turn.Session
	if l.overlays(l.contract, &l.position, l.request.Tools) {
		if err := l.summarise(ctx, ""); err != nil {
			return err
		}
		view, err := neutral(l.contract, &l.position)
		if err != nil {
			return err
		}
		q.View = view
	}
	l.asked = q
	outcome, err := route.Decide(ctx, l.Generator, q)
	if err != nil {
		return err
	}
	l.decision, outcome.Hop.ID = outcome.Decision, l.IDs.New(ids.Hop)
	l.Meter.Route(outcome.Decision.Reason)
	if outcome.Decision.Error != "" {
		l.Log.Warn("routing fell back", "turn", l.turn.ID, "label", outcome.Decision.Label, "cause", outcome.Decision.Error, "hop", outcome.Hop.ID) // its record has the details, which may quote words
	}
	if outcome.Decision.Reason == route.Sticky {
		return nil // the choice stands in the log since the turn's first hop
	}
	l.count(outcome.Hop)
	write := l.Sessions.NoteHop
	if l.watched {
		write = l.Sessions.RecordHop
	}
	return write(ctx, l.turn, session.Served{Hop: outcome.Hop, Blob: outcome.Blob})
}

// revision is the chosen adapter's: the pinned one while the turn is open.
func (l *life) revision() adapter.Revision {
	if l.turn.Revision.Name == l.decision.Label {
		return l.turn.Revision
	}
	r, _ := l.catalog.Find(l.decision.Label)
	return r
}

// prompt builds the specialist's own view. It waits for summaries only when a turn
// of another specialist lacks one, and no longer than the contract allows.
func (l *life) prompt(ctx context.Context) (backend.Request, error) {
	target := l.revision()
	if err := l.summarise(ctx, target.Name); err != nil {
		return backend.Request{}, err
	}
	view, err := ownview.Build(l.contract, session.Views(l.position.History), l.turn.View(), target.Name)
	if err != nil {
		return backend.Request{}, err
	}
	most := l.request.MaxTokens
	if most == 0 {
		most = l.contract.Budgets.AnswerTokens
	}
	return l.fit(ctx, l.overlaid(backend.Request{
		Messages: view, Tools: l.request.Tools, ToolChoice: l.request.ToolChoice, ToolPrompt: l.contract.ToolPrompt(),
		Revision: target, Sampling: l.request.Sampling.Over(l.contract.Sampling.Chat()), MaxTokens: most,
		Salt: l.turn.Owner, Session: l.turn.Session, Wanted: backend.Wanted{TokenIDs: true, Rows: l.request.Consent == record.ConsentTrain}, Reasoning: l.request.Reasoning,
		Constraint: l.language(target.Name), Hop: backend.Hop{Kind: string(record.HopAnswer)},
	}))
}

// language is what the contract holds an adapter's answers to. What the client asks for
// comes first, and an engine that cannot hold to it answers freely.
func (l *life) language(adapter string) backend.Constraint {
	a, _ := l.contract.Adapter(adapter)
	if a.Language == "" || len(l.request.Tools) > 0 || l.request.Sampling.Formatted() || !backend.CapabilitiesOf(l.Generator, adapter).Grammars {
		return backend.Constraint{}
	}
	return backend.Constraint{Kind: backend.Grammar, Text: grammar.Source(), Whole: true}
}

// summarise makes the summaries of other specialists' turns final.
func (l *life) summarise(ctx context.Context, target string) error {
	var foreign []*session.Turn
	var missing []string
	for i := range l.position.History {
		t := &l.position.History[i]
		if t.Revision.Name == target || t.SummaryFinal {
			continue
		}
		foreign = append(foreign, t)
		if t.SummarySource == "" {
			missing = append(missing, t.ID)
		}
	}
	return l.use(ctx, foreign, missing)
}

// answer streams the specialist's hop to out and returns what it adds up to.
func (l *life) answer(ctx context.Context, q backend.Request, out Sink) (*backend.Collected, error) {
	l.sent = q
	all := &backend.Collected{}
	err := l.stream(ctx, q, all, out)
	if err == nil {
		err = finished(q.ToolChoice, all.Message(), all.Finish)
	}
	if err == nil {
		if all.Finish.Reason == chat.FinishStop && len(all.Message().ToolCalls) > 0 {
			all.Finish.Reason = chat.FinishTools // some engines end calls with "stop"
		}
		return all, nil
	}
	if ctx.Err() != nil {
		err = errs.Wrap(errs.Canceled, errors.Join(context.Cause(ctx), err), "the client went away", "")
	}
	cut := l.answered(all)
	cut.Hop.Error, cut.Hop.Detail = string(errs.CodeOf(err)), err.Error()
	l.lost = append(l.lost, cut)
	return nil, err
}

func (l *life) stream(ctx context.Context, q backend.Request, all *backend.Collected, out Sink) error {
	for e, err := range l.Generator.Generate(ctx, q) {
		if err != nil {
			return shown(err)
		}
		if e.ToolCall != nil && e.ToolCall.Index > 0 && q.ToolChoice.Single {
			continue // the client takes one call an answer
		}
		all.Add(e)
		if e.Finish != nil {
			continue // the end is told after the commit
		}
		if err := out.Event(e); err != nil {
			return gone(err)
		}
	}
	return nil
}

// answered is the answer hop as the log keeps it.
func (l *life) answered(a *backend.Collected) session.Served {
	message := a.Message()
	h := record.Hop{ID: l.IDs.New(ids.Hop), Hop: record.HopAnswer, Adapter: l.sent.Revision, Message: &message, Sampling: l.sent.Sampling}
	blob := a.Record(&h)
	return session.Served{Hop: h, Blob: blob}
}

// count adds a model call of this request to its report.
func (l *life) count(h record.Hop) {
	if h.Usage == (chat.Usage{}) {
		return // decided without a model
	}
	l.hops = append(l.hops, h)
	l.Meter.Hop(string(h.Hop), h.Usage)
}
