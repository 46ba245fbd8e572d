package turn

import (
	"context"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/ownview"
	"macaron/internal/session"
)

// Count gives the tokens of a request's messages as the forced specialist would read
// them, or without one the contract's default: its system text before them, every
// message verbatim, since whose turns they are is known only when they are asked. No
// turn is opened, nothing is logged, no route is decided.
func (r *Runner) Count(ctx context.Context, q Request) (int, error) {
	leave, err := r.Queue.Enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	if err := r.check(q); err != nil {
		return 0, err
	}
	catalog, err := r.Catalogue.Current(ctx, q.Owner, q.User, "")
	if err != nil {
		return 0, err
	}
	if catalog, err = r.able(catalog, q, &session.Position{User: q.Messages}); err != nil {
		return 0, err
	}
	if err := known(catalog, q.Adapter); err != nil {
		return 0, err
	}
	label := q.Adapter
	if label == "" {
		label = catalog.Contract.Router.Default
	}
	target, ok := catalog.Find(label)
	if !ok && len(catalog.Adapters) > 0 { // not everybody may ask the default
		target = catalog.Adapters[0]
	}
	head := 0
	for head < len(q.Messages) && q.Messages[head].Role == chat.System {
		head++
	}
	view, err := ownview.Build(catalog.Contract, nil, ownview.Turn{System: q.Messages[:head], User: q.Messages[head:]}, target.Name)
	if err != nil {
		return 0, err
	}
	n, err := backend.Count(ctx, r.Generator, backend.Request{
		Messages: view, Tools: q.Tools, ToolChoice: q.ToolChoice, ToolPrompt: catalog.Contract.ToolPrompt(), Revision: target, Salt: q.Owner,
	})
	if err != nil {
		return 0, shown(err)
	}
	return n, nil
}
