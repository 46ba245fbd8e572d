package turn

import (
	"context"
	"log/slog"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/ids"
	"macaron/internal/limits"
	"macaron/internal/record"
	"macaron/internal/route"
	"macaron/internal/session"
)

// closing bounds the commit of an interrupted turn.
const closing = 10 * time.Second

// Request is one user request in neutral words, already within the limits.
type Request struct {
	ID         string // of the request, for the log
	Owner      string // tenant
	User       string // of the tenant, as somebody who is trusted with that says; "": nobody in particular
	Scope      string // the client's `user`: conversations are found within it only
	Session    string // explicit session, or ""
	ParentTurn string // explicit parent, or ""
	Adapter    string // forced adapter, or ""
	Messages   []chat.Message
	Tools      []chat.ToolDef
	ToolChoice chat.ToolChoice
	Sampling   chat.Sampling
	MaxTokens  int // of the answer; 0 takes the contract's budget
	Reasoning  string
	Purpose    record.Purpose
	Consent    record.Consent
	Trace      int           // of ParentTurn: the messages that the client has seen, if they end with tool calls
	Asked      *record.Asked // what a wire format must tell again of the request, or nil
}

// Sink is where a turn tells what happens. Chosen comes once, before anything of
// the answer; Event for each piece; Done once, after the turn is in the log.
type Sink interface {
	Chosen(Report) error
	Event(chat.Event) error
	Done(Report, chat.FinishReason, chat.Usage) error
}

// Opener is a Sink that is told as soon as the turn's beginning is in the log.
type Opener interface {
	Opened(Report) error
}

// Early is a Sink whose client learns the turn's names before the turn is closed. What a
// client can name is in the log.
type Early interface{ Early() }

// Sessions is what a turn needs of the session log.
type Sessions interface {
	Resolve(ctx context.Context, w session.Where, messages []chat.Message) (session.Position, error)
	Begin(ctx context.Context, p session.Position, o session.Opening) (*session.Turn, error)
	Settle(ctx context.Context, t *session.Turn) error
	RecordHop(ctx context.Context, t *session.Turn, h session.Served) error
	NoteHop(ctx context.Context, t *session.Turn, h session.Served) error
	RecordJoined(ctx context.Context, t *session.Turn, j record.Joined) error
	RecordCompacted(ctx context.Context, t *session.Turn, c record.Compacted) error
	Close(ctx context.Context, t *session.Turn, status record.Status, reason string, last ...session.Served) error
	UseSummaries(ctx context.Context, turns []*session.Turn, fallback func(*session.Turn) string) error
}

// Catalogue knows the contract in force and the ones that open turns are pinned to.
type Catalogue interface {
	// Current is for a user of the tenant, or for nobody in particular, and for a conversation, by
	// the session where it began, or "" for none: while a canary is on trial, it has its share of them.
	Current(ctx context.Context, owner, user, conversation string) (Catalog, error)
	Contract(hash ids.Digest) (*contract.Contract, error)
}

// Catalog is a contract with the revisions of its adapters, in the contract's order.
type Catalog struct {
	Contract *contract.Contract
	Adapters []adapter.Revision // that may answer to the one who asks
	Pair     *record.Pair       // where a release is in force or on trial
	Router   adapter.Revision   // that the contract names; it routes for those too whom it may not answer
}

// Labels lists the adapters' names.
func (c Catalog) Labels() []string {
	labels := make([]string, len(c.Adapters))
	for i, a := range c.Adapters {
		labels[i] = a.Name
	}
	return labels
}

// Find gives the revision of an adapter.
func (c Catalog) Find(name string) (adapter.Revision, bool) {
	for _, a := range c.Adapters {
		if a.Name == name {
			return a, true
		}
	}
	return adapter.Revision{}, false
}

// Summaries is the background worker.
type Summaries interface {
	Wake()
	Await(ctx context.Context, owner string, turns []string) bool
}

// Meter counts what turns did.
type Meter interface {
	Hop(kind string, u chat.Usage)
	Route(reason string)
	Answer(adapter string)
	Turn(status string)
}

// Runner serves turns. Its fields are set once; it is safe for concurrent use.
type Runner struct {
	Sessions     Sessions
	Catalogue    Catalogue
	Generator    backend.Generator
	Summaries    Summaries
	Queue        *limits.Queue
	IDs          *ids.Source
	Meter        Meter
	Log          *slog.Logger
	Tracer       Tracer            // nil: nobody traces
	RouteTimeout time.Duration     // of the route hop; 0: none
	Media        limits.MediaHosts // from which engines may fetch
	Ranker       route.Ranker      // makes shortlists; nil: every adapter is in every route prompt
}
