package app

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"macaron/internal/auth"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/obs"
	"macaron/internal/wire/tinker"
)

// headers sets what every answer carries; a page may widen the content policy for itself.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		next.ServeHTTP(w, r)
	})
}

// identify gives each request an id, keeping a well-formed one that the client sent,
// and puts it in the request's and the answer's headers.
func (f *front) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if !wellFormed(id) {
			id = f.ids.New(ids.Request)
		}
		r.Header.Set("X-Request-Id", id)
		w.Header().Set("X-Request-Id", id)
		next.ServeHTTP(w, r)
	})
}

func wellFormed(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	return strings.IndexFunc(id, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._~-", c))
	}) < 0
}

// watch counts and logs each request and turns a panic into a 500.
func (f *front) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.active.Add(1)
		defer f.active.Done()
		start := time.Now()
		rec := &recorder{ResponseWriter: w, tinker: tinker.Asked(r)}
		defer func() {
			if p := recover(); p != nil {
				f.panicked(rec, r, p)
			}
			took := time.Since(start)
			f.meter.Request(api(r.URL.Path), rec.code(), took)
			line := []any{"id", r.Header.Get("X-Request-Id"), "method", method(r), "api", api(r.URL.Path), "status", rec.code(), "ms", took.Milliseconds()}
			if rec.who.KeyID != "" {
				line = append(line, "owner", rec.who.Owner, "key_id", rec.who.KeyID)
			}
			f.log.Log(r.Context(), level(api(r.URL.Path), rec.code()), "request", line...)
		}()
		next.ServeHTTP(rec, r)
	})
}

// level keeps what pages and probes ask for again and again out of an ordinary log,
// unless it failed.
func level(api string, status int) slog.Level {
	switch api {
	case "page", "health", "metrics":
		if status < http.StatusBadRequest {
			return slog.LevelDebug
		}
	}
	return slog.LevelInfo
}

// panicked answers a defect of ours; an answer that has begun can only be cut.
func (f *front) panicked(rec *recorder, r *http.Request, p any) {
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p)
	}
	f.log.Error("panic", "id", r.Header.Get("X-Request-Id"), "panic", obs.Redact(fmt.Sprint(p)), "stack", string(debug.Stack()))
	if rec.status != 0 {
		panic(http.ErrAbortHandler)
	}
	f.refuse(rec, errs.As(fmt.Errorf("panic: %v", p)))
}

// api names the interface that a path belongs to: a closed set, as a label must be.
func api(path string) string {
	for _, p := range []struct{ prefix, name string }{
		{tinker.Root + "/", "tinker"}, {"/v1/chat/", "chat"}, {"/v1/messages", "messages"}, {"/v1/responses", "responses"}, {"/v1/conversations", "conversations"}, {"/v1/models", "models"}, {"/v1/completions", "completions"}, {"/v1/embeddings", "embeddings"}, {"/v1/", "v1"}, {"/admin/", "admin"},
		{"/tokenize", "tokens"}, {"/detokenize", "tokens"}, {"/health", "health"}, {"/ping", "health"}, {"/version", "health"}, {"/readyz", "health"}, {"/metrics", "metrics"},
	} {
		if strings.HasPrefix(path, p.prefix) {
			return p.name
		}
	}
	return "page"
}

func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}

// recorder remembers the status; Unwrap keeps flushing and deadlines reachable.
type recorder struct {
	http.ResponseWriter
	status int
	who    auth.Principal
	tinker bool // the request speaks that protocol
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) code() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}
