package turn

import (
	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/ownview"
	"macaron/internal/route"
	"macaron/internal/session"
)

// neutral is the view that the router and every specialist share when the answer goes on
// from the route hop's prompt (router.overlay): that of a specialist who answered nothing
// and has no prompt of its own.
func neutral(k *contract.Contract, p *session.Position) ([]chat.Message, error) {
	return ownview.Build(k, session.Views(p.History), ownview.Turn{System: p.System, Imported: p.Imported, User: p.User}, "")
}

// overlays reports whether the answer to a request will go on from the route hop's prompt.
// Tools stand in the answer's prompt alone, so that a request with them is laid out plainly.
func (r *Runner) overlays(k *contract.Contract, p *session.Position, tools []chat.ToolDef) bool {
	return k.Router.Overlay && r.Generator.Capabilities().Overlays && p.Continue == nil && len(p.User) > 0 && len(tools) == 0
}

// overlaid asks for the answer on the keys and values of the route hop: its prompt is the
// view that the router has read, and only what comes after it is the specialist's.
func (l *life) overlaid(q backend.Request) backend.Request {
	if l.asked.View == nil || l.decision.Reason == route.Forced || l.decision.Reason == route.Single {
		return q
	}
	offered := l.decision.Offered
	if offered == nil {
		offered = l.asked.Labels
	}
	q.Messages = l.asked.View
	q.Overlay = backend.Overlay{Revision: l.asked.Router, Like: l.contract.OverlayPrompt(l.asked.View, offered)}
	return q
}
