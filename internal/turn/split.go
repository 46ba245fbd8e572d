package turn

import (
	"context"
	"encoding/json"
	"sync"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/route"
	"macaron/internal/session"
	"macaron/internal/split"
)

// plan tells which specialists answer the turn together, if the contract wants turns split
// and this one has several intents; nil means that one of them answers alone. No failure of
// planning reaches the client: the turn is routed as any other then.
func (l *life) plan(ctx context.Context) ([]split.Part, error) {
	if !l.splittable() {
		return nil, nil
	}
	var parts []split.Part
	var hops []session.Served
	if l.contract.Split.By == contract.SplitByModel {
		parts, hops = l.planned(ctx)
	} else {
		parts, hops = l.pieced(ctx)
	}
	for i := range hops {
		hops[i].Hop.ID, hops[i].Hop.Hop = l.IDs.New(ids.Hop), record.HopSplit
		l.count(hops[i].Hop)
		if err := l.Sessions.NoteHop(ctx, l.turn, hops[i]); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, gone(context.Cause(ctx))
	}
	return parts, nil
}

// splittable says which turns may be split at all: those whose answer is plain text of a
// specialist that nobody named.
func (l *life) splittable() bool {
	q := l.request
	if l.contract.Split == nil || l.position.Continue != nil || q.Adapter != "" || len(q.Tools) > 0 ||
		q.Sampling.Formatted() || q.Sampling.Logprobs || len(l.catalog.Adapters) < 2 {
		return false
	}
	asked := 0
	for _, m := range l.position.User {
		if m.Role != chat.User {
			continue
		}
		asked++
		for _, p := range m.Parts {
			if p.Kind != "text" {
				return false
			}
		}
	}
	text := l.position.Text()
	return asked == 1 && contract.Clip(text, l.contract.Router.RequestChars) == text
}

// pieced asks the router about each piece of the request, all at once.
func (l *life) pieced(ctx context.Context) ([]split.Part, []session.Served) {
	pieces := split.Pieces(l.position.Text())
	if len(pieces) < 2 {
		return nil, nil
	}
	outcomes, failed := make([]route.Outcome, len(pieces)), make([]error, len(pieces))
	var all sync.WaitGroup
	for i, piece := range pieces {
		all.Go(func() {
			q := l.question(l.contract, l.catalog, l.turn.Owner, l.request.User, &l.position)
			q.Text, q.Session = piece, "" // not one after the other
			outcomes[i], failed[i] = route.Decide(ctx, l.Generator, q)
		})
	}
	all.Wait()
	var votes []split.Vote
	var hops []session.Served
	for i, o := range outcomes {
		if failed[i] != nil {
			return nil, hops
		}
		d := o.Decision
		v := split.Vote{Piece: pieces[i], Label: d.Label, Probabilities: d.Probabilities}
		if d.Preferred != "" {
			v.Label = d.Preferred
		}
		votes, hops = append(votes, v), append(hops, session.Served{Hop: o.Hop, Blob: o.Blob})
		if d.Reason == route.Fallback && d.Preferred == "" { // nobody was asked, or no label came
			return nil, hops
		}
	}
	return split.Merge(l.contract.Split, votes), hops
}

// planned lets the router write the plan.
func (l *life) planned(ctx context.Context) ([]split.Part, []session.Served) {
	if !l.Generator.Capabilities().JSONSchema {
		return nil, nil
	}
	zero, labels := 0.0, l.catalog.Labels()
	format, err := json.Marshal(map[string]any{"type": "json_schema", "json_schema": map[string]any{
		"name": "plan", "strict": true, "schema": json.RawMessage(split.Schema(labels, l.contract.Split.Parts))}})
	if err != nil {
		return nil, nil
	}
	r := backend.Request{
		Messages: l.contract.PlanPrompt(l.position.Text(), labels), Revision: l.catalog.Router,
		Sampling:  chat.Sampling{Temperature: &zero, ResponseFormat: format},
		MaxTokens: l.contract.Split.Tokens, Salt: l.turn.Owner, Session: l.turn.Session, Wanted: backend.Wanted{TokenIDs: true},
		Hop: backend.Hop{Kind: string(record.HopSplit)},
	}
	if l.RouteTimeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, l.RouteTimeout)
		defer stop()
	}
	var all backend.Collected
	for e, failed := range l.Generator.Generate(ctx, r) {
		if err = failed; err != nil {
			break
		}
		all.Add(e)
	}
	hop := record.Hop{Adapter: r.Revision, Sampling: chat.Sampling{Temperature: &zero}}
	served := session.Served{Blob: all.Record(&hop)}
	message := all.Message()
	hop.Message = &message
	var parts []split.Part
	if err == nil {
		parts, err = split.Read(l.contract.Split, labels, all.Text())
	}
	if err != nil {
		hop.Error, hop.Detail = string(errs.CodeOf(err)), err.Error()
	}
	served.Hop = hop
	return parts, []session.Served{served}
}
