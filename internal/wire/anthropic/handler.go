package anthropic

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/turn"
	"macaron/internal/wire/chatapi"
	"macaron/internal/wire/sse"
)

// Turns serves requests and counts their tokens; turn.Runner does.
type Turns interface {
	Run(ctx context.Context, q turn.Request, out turn.Sink) error
	Count(ctx context.Context, q turn.Request) (int, error)
}

// Deps are the handler's surroundings.
type Deps struct {
	Turns     Turns
	Catalogue turn.Catalogue
	Owner     func(*http.Request) string
	Users     chatapi.Users // of the tenant
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

// Handler serves /v1/messages, /v1/messages/count_tokens and /v1/models.
func Handler(d Deps) http.Handler {
	a := &api{Deps: d, started: d.Clock.Now()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", a.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", a.count)
	mux.HandleFunc("GET /v1/models", a.models)
	mux.HandleFunc("GET /v1/models/{id...}", a.model)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.refusals().Fail(w, r, errs.New(errs.NotFound, "there is nothing at "+r.Method+" "+errs.Clip(r.URL.Path),
			"POST /v1/messages, POST /v1/messages/count_tokens and GET /v1/models are served"))
	})
	return mux
}

// Asked reports whether a request speaks this API: by its path, or by its header where
// the path is another API's too.
func Asked(r *http.Request) bool {
	return r.URL.Path == "/v1/messages" || strings.HasPrefix(r.URL.Path, "/v1/messages/") || r.Header.Get("Anthropic-Version") != ""
}

// requestID is the API's own name of the header.
const requestID = "Request-Id"

// Speak marks the answers to requests of this API, before anything can refuse them.
func Speak(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if Asked(r) {
			w.Header().Set(requestID, w.Header().Get("X-Request-Id"))
		}
		next.ServeHTTP(w, r)
	})
}

// Spoken reports whether an answer is marked, so that whoever refuses uses WriteError.
func Spoken(w http.ResponseWriter) bool { return w.Header().Get(requestID) != "" }

// messages serves one message, streamed or whole: the whole one is the stream,
// collected.
func (a *api) messages(w http.ResponseWriter, r *http.Request) {
	q, err := a.read(w, r, false)
	if err != nil {
		a.refusals().Fail(w, r, err)
		return
	}
	if !q.stream {
		if err := a.Turns.Run(r.Context(), q.Request, newWhole(w, q)); err != nil {
			a.refusals().Fail(w, r, q.named(err))
		}
		return
	}
	stream := newStream(w, q, a.Stream)
	stream.Patience = a.Patience
	defer stream.close()
	if err := a.Turns.Run(r.Context(), q.Request, stream); err != nil {
		a.refusals().FailStream(w, r, stream, q.named(err))
	}
}

// counted is the answer of count_tokens.
type counted struct {
	Input   int    `json:"input_tokens"`
	Macaron *noted `json:"macaron,omitempty"`
}

type noted struct {
	Ignored []string `json:"ignored"`
}

// count serves the number of tokens of a prompt; it opens no turn.
func (a *api) count(w http.ResponseWriter, r *http.Request) {
	q, err := a.read(w, r, true)
	if err != nil {
		a.refusals().Fail(w, r, err)
		return
	}
	n, err := a.Turns.Count(r.Context(), q.Request)
	if err != nil {
		a.refusals().Fail(w, r, q.named(err))
		return
	}
	out := counted{Input: n}
	if len(q.ignored) > 0 {
		out.Macaron = &noted{q.ignored}
	}
	if err := chatapi.WriteJSON(w, out); err != nil {
		a.refusals().Note(r, err)
	}
}

// read takes the body and the headers into a request.
func (a *api) read(w http.ResponseWriter, r *http.Request, counted bool) (*request, error) {
	body, err := chatapi.Body(w, r)
	if err != nil {
		return nil, err
	}
	q, err := decode(body, counted)
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
