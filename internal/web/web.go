// Package web serves the chat page and the page of runs, small embedded pages without a
// build step, and the JSON interface under the first (package wire/runs has the other's): stored sessions, adapters, feedback. Whatever the page
// shows can also be had from that interface. Model text is data here: the page builds
// every element itself and the content policy allows nothing that is not embedded.
package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/session"
)

// Log is what the page reads and writes of the record log; *session.Log is one.
type Log interface {
	// List gives an owner's sessions by last change, newest first, those changed before the given time (zero: all).
	List(ctx context.Context, owner string, before time.Time, limit int) ([]record.SessionState, error)
	// Load gives a session and all its turns in the order they were opened; errs.NotFound when the owner has none.
	Load(ctx context.Context, owner, session string) (record.SessionState, []session.Turn, error)
	// History gives a turn and its ancestors, oldest first; the turn is the last.
	History(ctx context.Context, owner, turn string) ([]session.Turn, error)
	// Feedback records a person's judgement of a turn; errs.NotFound when the owner has none.
	Feedback(ctx context.Context, owner, turn string, f record.Feedback) error
}

// Adapter is a registered specialist as the page shows it.
type Adapter struct {
	Title       string
	Description string
	Default     bool // taken when routing fails
	Revision    adapter.Revision
}

// Deps are what the page stands on; all are needed.
type Deps struct {
	Log Log
	// Adapters lists the specialists of an owner, in the order of the contract.
	Adapters func(ctx context.Context, owner string) ([]Adapter, error)
	// Owner is the credential extractor of the one listener.
	Owner func(*http.Request) string
	// Fail answers with an error in the shape that every interface here uses.
	Fail func(http.ResponseWriter, error)
}

// Handler serves GET /, /runs, /training, /forge/lineage and /assets/, GET /admin/sessions, /admin/sessions/{id} and
// /admin/adapters, and POST /v1/feedback. It expects the guard in front of it.
func Handler(d Deps) http.Handler {
	s := &server{Deps: d, assets: loadAssets()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page(chatPage))
	mux.HandleFunc("GET /runs", s.page("runs.html"))
	mux.HandleFunc("GET /training", s.page("training.html"))
	mux.HandleFunc("GET /forge/lineage", s.page("forge.html"))
	mux.HandleFunc("GET /assets/{name}", s.asset)
	mux.HandleFunc("GET /admin/sessions", s.json(s.sessions))
	mux.HandleFunc("GET /admin/sessions/{id}", s.json(s.session))
	mux.HandleFunc("GET /admin/adapters", s.json(s.adapters))
	mux.HandleFunc("POST /v1/feedback", s.json(s.feedback))
	mux.HandleFunc("/", s.nothing)
	return mux
}

type server struct {
	Deps
	assets map[string]asset
}

// json adapts a handler that returns a value to encode.
func (s *server) json(answer func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := answer(r)
		if err != nil {
			s.Fail(w, err)
			return
		}
		b, err := json.Marshal(v)
		if err != nil {
			s.Fail(w, errs.Wrap(errs.Internal, err, "the answer cannot be written as JSON", ""))
			return
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store")
		_, _ = w.Write(append(b, '\n')) // a client that went away is no failure of ours
	}
}

// methods says how to reach what stands at a path, for those who came another way.
var methods = map[string]string{
	"/": "GET", "/runs": "GET", "/training": "GET", "/forge/lineage": "GET", "/admin/sessions": "GET", "/admin/adapters": "GET", "/v1/feedback": "POST",
}

func (s *server) nothing(w http.ResponseWriter, r *http.Request) {
	if allowed, ok := methods[r.URL.Path]; ok {
		w.Header().Set("Allow", allowed)
		s.Fail(w, errs.New(errs.NotFound, fmt.Sprintf("%s does not answer %.10q", r.URL.Path, r.Method), "use "+allowed))
		return
	}
	s.Fail(w, errs.New(errs.NotFound, "there is nothing at this address", "the chat page is at /"))
}
