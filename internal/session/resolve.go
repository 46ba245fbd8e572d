package session

import (
	"context"
	"fmt"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
)

// MaxMessages bounds the messages of one request.
const MaxMessages = 16384

// candidates is how many equal conversations are looked at for one to continue.
const candidates = 16

// Where says whose conversation a request may belong to.
type Where struct {
	Owner      string // tenant, never empty
	Scope      string // key and `user`; recovery never crosses it
	Session    string // explicit session, or "" for recovery by content
	ParentTurn string // explicit parent, or ""
}

// Position is the place of a request in the log, as Resolve found it.
type Position struct {
	Where      Where
	Session    string // the turn will be in it; "" means that Begin opens a new one
	ForkedFrom string // of a new session: the turn whose history it shares, or ""
	Parent     string // turn before this one, or ""
	History    []Turn // the turns from the oldest to the parent, all delivered
	System     []chat.Message
	Imported   []chat.Message
	User       []chat.Message

	Continue *Turn          // set for tool results: the turn that they answer
	Results  []chat.Message // the tool results
	shared   int            // messages of Continue's trace up to those tool calls

	left []record.Record // records of a turn that the client left at its tool calls; Begin writes them
	link []record.Chain  // and its index entry
}

// Text is the text of the turn's last user message: what is routed.
func (p *Position) Text() string {
	if p.Continue != nil {
		return p.Continue.Text()
	}
	return lastUser(p.User)
}

// request is what Resolve works on.
type request struct {
	Where
	messages []chat.Message // after the leading system messages
	links    []link         // links[i] is the chain after messages[i]
}

// Resolve finds the place of a request: by the content of its messages, within the
// owner's scope. The longest known beginning is its history; the rest is new. An
// explicit session decides where the turn will stand, an explicit parent also what
// comes before it. Nothing is written.
func (l *Log) Resolve(ctx context.Context, w Where, messages []chat.Message) (Position, error) {
	p := Position{Where: w}
	if w.Owner == "" {
		return p, errs.New(errs.Internal, "a request without owner reached the log", "")
	}
	if len(messages) > MaxMessages {
		return p, errs.New(errs.TooLarge, fmt.Sprintf("%d messages; at most %d are taken", len(messages), MaxMessages), "start a new conversation").In("messages")
	}
	head := 0
	for head < len(messages) && messages[head].Role == chat.System {
		head++
	}
	p.System = messages[:head:head]
	if head == len(messages) {
		return p, errs.New(errs.InvalidRequest, "there is no user message", "add one").In("messages")
	}
	if err := l.checkWhere(ctx, w); err != nil {
		return p, err
	}
	r := request{Where: w, messages: messages[head:], links: make([]link, len(messages)-head)}
	var at link
	for i, m := range r.messages {
		at = extend(at, m)
		r.links[i] = at
	}
	switch last := r.messages[len(r.messages)-1]; last.Role {
	case chat.Tool:
		return p, l.resolveTools(ctx, &p, r)
	case chat.User, chat.System:
		return p, l.resolveUser(ctx, &p, r)
	default:
		return p, errs.New(errs.InvalidRequest, "the last message is the assistant's", "end with a user or tool message").In("messages")
	}
}

// checkWhere refuses an explicit session or parent that is not this scope's.
func (l *Log) checkWhere(ctx context.Context, w Where) error {
	if w.Session != "" {
		s, err := l.store.Session(ctx, w.Owner, w.Session)
		if err != nil {
			return err
		}
		if s.Scope != w.Scope {
			return errs.New(errs.NotFound, "there is no such session", "leave the session out, or use the key and user that opened it")
		}
	}
	if w.ParentTurn == "" {
		return nil
	}
	t, err := l.store.Turn(ctx, w.Owner, w.ParentTurn)
	if err != nil {
		return err
	}
	if t.Scope != w.Scope || t.Status != record.StatusDelivered {
		return errs.New(errs.NotFound, "there is no such delivered turn", "name a turn whose answer has come, of the same key and user")
	}
	return nil
}

// match looks up the longest known beginning: how many messages it has, and the
// index entries that end there. A match at a system message counts from the message
// before, so that the system message stays with what follows.
func (l *Log) match(ctx context.Context, r request) (int, []record.Chain, error) {
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
		if c.Status == record.StatusDelivered || c.Status == record.StatusAwaiting {
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

// History gives a turn and its ancestors, oldest first; the turn is the last.
func (l *Log) History(ctx context.Context, owner, turn string) ([]Turn, error) {
	records, err := l.store.Lineage(ctx, owner, turn, l.maxTurns)
	if err != nil {
		return nil, err
	}
	turns := fold(records)
	if len(turns) == 0 {
		return nil, errs.New(errs.NotFound, "there is no such turn", "list your sessions to see what there is")
	}
	if turns[0].Parent != "" {
		return nil, errs.New(errs.TooLarge, fmt.Sprintf("the conversation has more than %d turns", l.maxTurns), "start a new one")
	}
	return turns, nil
}
