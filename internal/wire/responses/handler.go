// Package responses speaks the OpenAI Responses API. It decodes requests to the neutral
// words of chat and encodes the events of a turn to objects and numbered streams. A
// response is a step of a turn in the log and has no state of its own: what a client asks
// for later is told again from the log.
package responses

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/turn"
	"macaron/internal/wire/chatapi"
	"macaron/internal/wire/openai"
	"macaron/internal/wire/sse"
)

// Turns serves requests; turn.Runner does.
type Turns interface {
	Run(ctx context.Context, q turn.Request, out turn.Sink) error
}

// Log is what of the sessions this API tells again; session.Log has it.
type Log interface {
	Steps(ctx context.Context, owner, turn string) (session.Turn, []session.Step, error)
	Delete(ctx context.Context, owner, turn, response string) error
	OpenSession(ctx context.Context, owner string, asked *record.Asked) (string, error)
	Conversation(ctx context.Context, owner, id string) (session.Conversation, error)
	DeleteSession(ctx context.Context, owner, id, name string) error
}

// Deps are the handler's surroundings.
type Deps struct {
	Turns  Turns
	Log    Log
	Owner  func(*http.Request) string // tenant of a request
	Users  chatapi.Users              // of the tenant
	Logger *slog.Logger
	Failed func(code string) // counts errors that clients see
	Stream sse.Options
	// Elsewhere asks the other processes of the log to end an owner's turn; nil: there are none.
	Elsewhere func(ctx context.Context, owner, turn string) error
	Stopping  <-chan struct{} // closed when the server is about to stop; nil: nobody says so
	Patience  time.Duration   // how long a status line waits for the prompt to be read; 0: 10 s
}

// API serves /v1/responses and /v1/conversations. Close must be called.
type API struct {
	Deps
	mux *http.ServeMux

	mu      sync.Mutex
	running map[place]*run // in the background
	ending  bool
	group   sync.WaitGroup
}

// place names a response of an owner.
type place struct{ owner, id string }

// New makes the handler.
func New(d Deps) *API {
	a := &API{Deps: d, mux: http.NewServeMux(), running: map[place]*run{}}
	for pattern, serve := range map[string]func(http.ResponseWriter, *http.Request) error{
		"POST /v1/responses":                 a.create,
		"GET /v1/responses/{id}":             a.retrieve,
		"DELETE /v1/responses/{id}":          a.remove,
		"POST /v1/responses/{id}/cancel":     a.cancel,
		"GET /v1/responses/{id}/input_items": a.inputItems,
		"POST /v1/conversations":             a.converse,
		"GET /v1/conversations/{id}":         a.conversation,
		"DELETE /v1/conversations/{id}":      a.forget,
		"GET /v1/conversations/{id}/items":   a.conversationItems,
	} {
		a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := serve(w, r); err != nil {
				a.fail(w, r, err)
			}
		})
	}
	return a
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// Close lets the responses in the background go on until ctx ends, cancels what is left
// then, and waits for it. New ones are refused from here on.
func (a *API) Close(ctx context.Context) error {
	a.mu.Lock()
	a.ending = true
	a.mu.Unlock()
	done := make(chan struct{})
	go func() { a.group.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	for _, r := range a.running {
		r.stop()
	}
	a.mu.Unlock()
	<-done
	return nil
}

// fail answers an error by its status, in the API's shape.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	err = plainNames(err)
	a.note(r, err)
	openai.WriteError(w, err)
}

func (a *API) note(r *http.Request, err error) {
	chatapi.Notes{Log: a.Logger, Failed: a.Failed}.Note(r, err)
}

// create serves one response: whole, streamed, or in the background.
func (a *API) create(w http.ResponseWriter, r *http.Request) error {
	q, err := a.read(w, r)
	if err != nil {
		return err
	}
	h := head{asked: q.asked, ignored: q.ignored}
	switch {
	case q.asked.Background:
		return a.background(w, r, q, h)
	case q.stream:
		return a.stream(w, r, q, h)
	}
	return a.Turns.Run(r.Context(), q.Request, &wholeSink{head: h, w: w})
}

// read takes the body, and what it names, into a request.
func (a *API) read(w http.ResponseWriter, r *http.Request) (*request, error) {
	body, err := chatapi.Body(w, r)
	if err != nil {
		return nil, err
	}
	q, err := decode(body)
	if err != nil {
		return nil, err
	}
	q.ID, q.Owner = r.Header.Get("X-Request-Id"), a.Owner(r)
	q.User, q.Scope = a.Users.Acting(r, q.Scope)
	made, err := a.follow(r.Context(), q)
	if err != nil {
		return nil, err
	}
	items, err := a.resolve(r.Context(), q.Owner, q.input)
	if err != nil {
		return nil, err
	}
	if err := q.messages(items, made); err != nil {
		return nil, err
	}
	if err := chatapi.Place(&q.Request, r.Header); err != nil {
		return nil, err
	}
	return q, q.keep()
}

// follow places the request behind the response or in the conversation that it names,
// and gives the ids of calls that wait there.
func (a *API) follow(ctx context.Context, q *request) (made []string, err error) {
	var s *stored
	switch {
	case q.previous != "":
		if s, err = a.load(ctx, q.Owner, q.previous); err != nil {
			return nil, errs.As(err).In("previous_response_id")
		}
	case q.session != "":
		c, err := a.Log.Conversation(ctx, q.Owner, q.session)
		if errs.CodeOf(err) == errs.NotFound || err == nil && c.Deleted {
			return nil, noConversation(q.asked.Conversation.ID).In("conversation")
		}
		if err != nil {
			return nil, err
		}
		q.Session = q.session
		if err := q.within(c.State.Scope, "conversation"); err != nil || c.Last == nil {
			return nil, err
		}
		q.ParentTurn = c.Last.ID
		return q.calls(c.Last.Calls(), len(c.Last.Trace)), nil
	default:
		return nil, nil
	}
	if err := q.within(s.turn.Scope, "previous_response_id"); err != nil {
		return nil, err
	}
	q.ParentTurn = s.turn.ID
	switch s.step.Status {
	case record.StatusDelivered:
		return nil, nil
	case record.StatusAwaiting:
		return q.calls(s.step.Message().ToolCalls, s.step.Trace), nil
	case record.StatusOpen:
		return nil, errs.New(errs.InvalidRequest, "the previous response has not ended", "wait until it is completed").In("previous_response_id")
	}
	return nil, errs.New(errs.InvalidRequest, "the previous response did not come to its end, so nothing can follow it",
		"follow the one before it").In("previous_response_id")
}

// calls says that the request answers, or leaves, these calls.
func (q *request) calls(calls []chat.ToolCall, trace int) (made []string) {
	for _, c := range calls {
		made = append(made, c.ID)
	}
	if len(made) > 0 {
		q.Trace = trace
	}
	return made
}

// within takes the scope of what the request names. What was begun without user is of
// every user of the tenant; what was begun with one, of nobody else.
func (q *request) within(scope, field string) error {
	if scope != "" && q.Scope != "" && q.Scope != scope {
		return errs.New(errs.NotFound, "there is no such "+field+" of this user", "send the user that began it").In(field)
	}
	q.Scope = scope
	return nil
}

// keep notes in the log what the response object repeats, if it is to be had again.
func (q *request) keep() error {
	if !q.asked.Store {
		return nil
	}
	fields, err := encodeAsked(q.asked, q.ignored)
	q.Asked = &record.Asked{API: api, Fields: fields}
	return err
}
