package chatapi

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"macaron/internal/errs"
	"macaron/internal/turn"
)

// departure is how long a client may take to read a whole answer.
const departure = 60 * time.Second

// Macaron is the object in every answer and at the end of a stream.
type Macaron struct {
	turn.Report
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// MacaronOf puts together what the decoder and the turn have to tell.
func MacaronOf(r turn.Report, ignored []string, metadata json.RawMessage) *Macaron {
	r.Ignored = append(slices.Clone(ignored), r.Ignored...)
	return &Macaron{Report: r, Metadata: metadata}
}

// WriteWhole writes a whole answer; a client that stops reading does not hold the
// turn's place.
func WriteWhole(w http.ResponseWriter, v any) error {
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Now().Add(departure)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return WriteJSON(w, v)
}

// WriteJSON writes an object that is kept by no cache.
func WriteJSON(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	return json.NewEncoder(w).Encode(v)
}

// WriteStatus writes the body of an error under its status.
func WriteStatus(w http.ResponseWriter, status int, e *errs.Error, body any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that went away is no failure of ours
}

// Notes tells the operator of errors.
type Notes struct {
	Log    *slog.Logger
	Failed func(code string) // counts errors that clients see
}

// Note tells of one. What is wrong with a request is named by code and field only: the
// message quotes the request, and a conversation is not for the log.
func (n Notes) Note(r *http.Request, err error) {
	e := errs.As(err)
	n.Failed(string(e.Code))
	level, what := slog.LevelInfo, slog.String("field", e.Field)
	if e.Code.Status() >= 500 && e.Code != errs.Canceled {
		level, what = slog.LevelError, slog.Any("err", err)
	}
	n.Log.LogAttrs(r.Context(), level, "request failed", slog.String("id", r.Header.Get("X-Request-Id")), slog.String("code", string(e.Code)), what)
}

// Refusals tell a client of an error in the shape of its API, and the operator too.
type Refusals struct {
	Notes
	Write func(http.ResponseWriter, error)
}

// Stream is an answer that an error may still end.
type Stream interface {
	Abort() bool // stops it; true when its status line is out already
	Fail(*errs.Error) error
}

// Fail answers with an error.
func (f Refusals) Fail(w http.ResponseWriter, r *http.Request, err error) {
	f.Note(r, err)
	f.Write(w, err)
}

// FailStream tells an error by its status while that is possible, and as the last event
// afterwards.
func (f Refusals) FailStream(w http.ResponseWriter, r *http.Request, s Stream, err error) {
	f.Note(r, err)
	if !s.Abort() {
		f.Write(w, err)
		return
	}
	if err := s.Fail(errs.As(err)); err != nil {
		f.Log.Debug("an error did not reach the client", "id", r.Header.Get("X-Request-Id"), "err", err)
	}
}
