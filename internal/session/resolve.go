package session

import (
	"context"
	"fmt"
	"slices"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/ownview"
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
	// Trace is set when what the client has seen of ParentTurn ends with tool calls: how many
	// messages of the turn's trace it has seen. The request answers the calls or leaves them.
	Trace int
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
	opens    string         // the session that Begin will open, once somebody has asked for its name
	shared   int            // messages of Continue's trace up to those tool calls

	left []record.Record // records of a turn that the client left at its tool calls; Begin writes them
	link []record.Chain  // and its index entry
}

// Text is the text of the turn's last user message: what is routed.
func (p *Position) Text() string {
	if p.Continue != nil {
		return p.Continue.Text()
	}
	return lastUser(p.User).Described()
}

// View gives what ownview needs of the turn as Begin will open or continue it.
func (p *Position) View() ownview.Turn {
	if t := p.Continue; t != nil {
		v := t.View()
		v.Trace = slices.Concat(t.Trace[:p.shared], p.Results)
		return v
	}
	return ownview.Turn{System: p.System, Imported: p.Imported, User: p.User}
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
	if w.Trace > 0 {
		return p, l.resolveCalls(ctx, &p, r)
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
	if t.Scope != w.Scope || t.Status != record.StatusDelivered && w.Trace == 0 {
		return errs.New(errs.NotFound, "there is no such delivered turn", "name a turn whose answer has come, of the same key and user")
	}
	return nil
}
