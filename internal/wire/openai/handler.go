package openai

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/turn"
	"macaron/internal/wire/chatapi"
	"macaron/internal/wire/sse"
)

// Turns serves requests; turn.Runner does.
type Turns interface {
	Run(ctx context.Context, q turn.Request, out turn.Sink) error
}

// Routes decides without answering; turn.Runner does.
type Routes interface {
	Dry(ctx context.Context, q turn.Request) (turn.Report, error)
}

// Deps are the handler's surroundings.
type Deps struct {
	Turns     Turns
	Routes    Routes
	Catalogue turn.Catalogue
	Owner     func(*http.Request) string // tenant of a request
	Users     chatapi.Users              // of the tenant
	Clock     clock.Clock
	Log       *slog.Logger
	Failed    func(code string) // counts errors that clients see
	Stream    sse.Options
	Patience  time.Duration // how long a status line waits for the prompt to be read; 0: 10 s
}

type api struct {
	Deps
	started time.Time
}

// Handler serves /v1/chat/completions, /v1/route and /v1/models.
func Handler(d Deps) http.Handler {
	a := &api{Deps: d, started: d.Clock.Now()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", a.complete)
	mux.HandleFunc("POST /v1/route", a.route)
	mux.HandleFunc("GET /v1/models", a.models)
	mux.HandleFunc("GET /v1/models/{id...}", a.model)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.refusals().Fail(w, r, errs.New(errs.NotFound, "there is nothing at "+r.Method+" "+errs.Clip(r.URL.Path),
			"GET /v1/models and POST /v1/chat/completions are served"))
	})
	return mux
}

// complete serves one chat completion, streamed or whole: the whole one is the
// stream, collected.
func (a *api) complete(w http.ResponseWriter, r *http.Request) {
	q, err := a.read(w, r)
	if err != nil {
		a.refusals().Fail(w, r, err)
		return
	}
	head := answerHead{model: q.model, created: a.Clock.Now().Unix(), ignored: q.ignored, metadata: q.metadata}
	if !q.stream {
		whole := &wholeSink{w: w, head: head, logprobs: q.Sampling.Logprobs}
		if err := a.Turns.Run(r.Context(), q.Request, whole); err != nil {
			a.refusals().Fail(w, r, err)
		}
		return
	}
	stream := &streamSink{w: sse.NewWriter(w, a.Stream), header: w.Header(), head: head, includeUsage: q.includeUsage, logprobs: q.Sampling.Logprobs}
	stream.Begin, stream.Patience = stream.begin, a.Patience
	defer stream.close()
	if err := a.Turns.Run(r.Context(), q.Request, stream); err != nil {
		a.refusals().FailStream(w, r, stream, err)
	}
}

// read takes the body and the headers into a request.
func (a *api) read(w http.ResponseWriter, r *http.Request) (*request, error) {
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
	return q, chatapi.Place(&q.Request, r.Header)
}

func (a *api) refusals() chatapi.Refusals {
	return chatapi.Refusals{Notes: chatapi.Notes{Log: a.Log, Failed: a.Failed}, Write: WriteError}
}
