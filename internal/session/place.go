package session

import (
	"context"
	"slices"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
)

// match looks up the longest known beginning: how many messages it has, and the
// index entries that end there. A match at a system message counts from the message
// before, so that the system message stays with what follows.
//
// Whatever is known has an answer in it, so that a request without one begins something new.
func (l *Log) match(ctx context.Context, r request) (int, []record.Chain, error) {
	if !slices.ContainsFunc(r.messages, func(m chat.Message) bool { return m.Role == chat.Assistant }) {
		return 0, nil, nil
	}
	i, found, err := l.store.LastChain(ctx, r.Owner, r.Scope, r.Session, r.links, candidates)
	if err != nil || i < 0 {
		return 0, nil, err
	}
	for i > 0 && r.messages[i].Role == chat.System {
		i--
	}
	return i + 1, found, nil
}

// resolveUser places a request that ends with the user's words.
func (l *Log) resolveUser(ctx context.Context, p *Position, r request) error {
	if r.ParentTurn != "" {
		return l.afterParent(ctx, p, r)
	}
	n, found, err := l.match(ctx, r)
	if err != nil {
		return err
	}
	ended, open := split(found)
	switch {
	case len(ended) > 0:
		err = l.after(ctx, p, r, n, ended)
	case len(open) > 0:
		err = l.afterLeft(ctx, p, r, n, open[0])
	default:
		err = p.fresh(r.messages)
		p.Session = r.Session
	}
	return err
}

// split tells entries at the end of turns from those at tool calls.
func split(found []record.Chain) (ended, open []record.Chain) {
	for _, c := range found {
		if c.End {
			ended = append(ended, c)
		} else {
			open = append(open, c)
		}
	}
	return ended, open
}

// after places the request behind a delivered turn: the first candidate that
// nothing follows yet, else the first, from which it forks.
func (l *Log) after(ctx context.Context, p *Position, r request, n int, ended []record.Chain) error {
	parent, followed := ended[0], true
	for _, c := range ended {
		if r.Session != "" && c.Session != r.Session {
			break // those of the session come first
		}
		has, err := l.followed(ctx, r.Owner, c.Turn)
		if err != nil {
			return err
		}
		if !has {
			parent, followed = c, false
			break
		}
	}
	if err := l.history(ctx, p, parent.Turn); err != nil {
		return err
	}
	if err := p.fresh(r.messages[n:]); err != nil {
		return err
	}
	switch {
	case r.Session != "":
		p.Session = r.Session
	case followed || len(p.Imported) > 0:
		p.ForkedFrom = parent.Turn
	default:
		p.Session = parent.Session
	}
	return nil
}

// followed reports whether a client has seen a turn that follows this one.
func (l *Log) followed(ctx context.Context, owner, turn string) (bool, error) {
	children, err := l.store.Children(ctx, owner, turn)
	for _, c := range children {
		if c.Status != record.StatusDelivered && c.Status != record.StatusAwaiting {
			continue
		}
		if t, err := l.turn(ctx, owner, c.Turn); err != nil || t.Part == nil {
			return true, err
		}
	}
	return false, err
}

// afterParent places the request behind the parent that it names. If its messages
// begin with the parent's conversation the rest is new, else all of them.
func (l *Log) afterParent(ctx context.Context, p *Position, r request) error {
	if err := l.history(ctx, p, r.ParentTurn); err != nil {
		return err
	}
	n, at := 0, end(p.History)
	for i := range r.links {
		if r.links[i] == at && r.messages[i].Role != chat.System {
			n = i + 1
		}
	}
	p.Session = r.Session
	if p.Session == "" {
		p.Session = p.History[len(p.History)-1].Session
	}
	return p.fresh(r.messages[n:])
}

// history loads the turns up to the parent.
func (l *Log) history(ctx context.Context, p *Position, parent string) error {
	if parent == "" {
		return nil
	}
	turns, err := l.History(ctx, p.Where.Owner, parent)
	if err != nil {
		return err
	}
	p.Parent, p.History = parent, turns
	return nil
}

// fresh divides the messages that are new: User is the last run of user (and
// system) messages, Imported what comes before.
func (p *Position) fresh(messages []chat.Message) error {
	from := len(messages)
	for from > 0 && (messages[from-1].Role == chat.User || messages[from-1].Role == chat.System) {
		from--
	}
	p.Imported, p.User = messages[:from:from], messages[from:]
	for _, m := range p.User {
		if m.Role == chat.User {
			return nil
		}
	}
	return errs.New(errs.InvalidRequest, "there is no new user message", "end with one").In("messages")
}
