package turn

import (
	"slices"

	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/route"
	"macaron/internal/session"
)

// ask is the question to the router about a turn at a place in a conversation. Turns, dry
// runs and explanations ask through it, so that they cannot differ.
func ask(k *contract.Contract, p *session.Position) route.Question {
	return route.Question{Contract: k, Text: p.Text(), Previous: previous(p), Earlier: earlier(k, p)}
}

// question completes ask with what the process has.
func (r *Runner) question(k *contract.Contract, catalog Catalog, owner, user string, p *session.Position) route.Question {
	q := ask(k, p)
	q.Router = catalog.Router
	if r, ok := catalog.Find(k.Router.Adapter); ok {
		q.Router = r
	}
	q.Labels, q.Ranker, q.Salt, q.User, q.Session, q.Timeout = catalog.Labels(), r.Ranker, owner, user, p.Session, r.RouteTimeout
	q.Narrowed = !slices.Equal(q.Labels, catalog.Contract.LabelsFor(owner, ""))
	return q
}

// previous is the user's message before the one to route. Where the client brought it
// along, nobody knows which adapter took it.
func previous(p *session.Position) *contract.Previous {
	for i := len(p.Imported) - 1; i >= 0; i-- {
		if m := p.Imported[i]; m.Role == chat.User {
			return &contract.Previous{Text: m.Described()}
		}
	}
	if n := len(p.History); n > 0 {
		last := &p.History[n-1]
		return &contract.Previous{Label: last.Specialist(), Text: last.Text()}
	}
	return nil
}

// earlier are the last turns that have summaries, oldest first, as many as the contract
// wants; an imported answer counts with its extract.
func earlier(k *contract.Contract, p *session.Position) []contract.Previous {
	var out []contract.Previous
	if k.Router.Summaries == 0 {
		return nil
	}
	for i := range p.History {
		if t := &p.History[i]; t.Summary != "" {
			out = append(out, contract.Previous{Label: t.Specialist(), Text: t.Summary})
		}
	}
	for i := len(p.Imported) - 1; i >= 0; i-- {
		if m := p.Imported[i]; m.Role == chat.Assistant && m.Text() != "" {
			out = append(out, contract.Previous{Text: k.Extract(m.Text())})
			break
		}
	}
	return out[max(0, len(out)-k.Router.Summaries):]
}
