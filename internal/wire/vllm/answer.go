package vllm

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/wire/chatapi"
	"macaron/internal/wire/sse"
)

// departure is how long a client may take to read a whole answer.
const departure = 60 * time.Second

// head is what every object of one answer repeats.
type head struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
	Macaron *note  `json:"macaron,omitempty"`
}

// note has what only this server tells.
type note struct {
	Ignored     []string `json:"ignored,omitempty"`     // fields that were read and do nothing here
	Approximate *overlay `json:"approximate,omitempty"` // why the answer is not exact
}

func (a *api) head(r *http.Request, q *request, prefix string) head {
	id := q.id
	if id == "" {
		id = strings.TrimPrefix(r.Header.Get("X-Request-Id"), "req_")
	}
	return head{ID: prefix + strings.TrimPrefix(id, prefix), Created: a.Clock.Now().Unix(), Model: q.model, Macaron: q.note()}
}

// stopReason is the stop string or token that ended a choice, null for any other end.
func stopReason(f *chat.Finish) any {
	switch {
	case f.StopID != nil:
		return *f.StopID
	case f.Stop != "":
		return f.Stop
	}
	return nil
}

// stopText is the stop string, where it belongs to the answer.
func (r *request) stopText(f *chat.Finish) string {
	if r.includeStop {
		return f.Stop
	}
	return ""
}

// addUsage adds a choice's tokens; those of a prompt count once, whatever the choices.
func addUsage(sum *chatapi.Usage, u chat.Usage, first bool) {
	if first {
		sum.PromptTokens += u.PromptTokens
		sum.Details.CachedTokens += u.CachedTokens
	}
	sum.CompletionTokens += u.OutputTokens
	sum.TotalTokens = sum.PromptTokens + sum.CompletionTokens
}

// depart writes a whole answer. A client that stops reading must not hold its place.
func depart(w http.ResponseWriter, v any) error {
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(departure)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return chatapi.WriteJSON(w, v)
}

// stream sends chunks.
type stream struct{ *sse.Writer }

func (a *api) newStream(w http.ResponseWriter) stream { return stream{sse.NewWriter(w, a.Stream)} }

func (s stream) send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.Send("", b)
}

// end sends the chunk with the usage, if there is one to tell, and the last line.
func (s stream) end(tell bool, usage any) error {
	if tell {
		if err := s.send(usage); err != nil {
			return err
		}
	}
	return s.End("", []byte("[DONE]"))
}

// serveStream runs the jobs into a stream. An error has a status of its own until the
// first chunk; after that it is a chunk, and the last.
func (a *api) serveStream(w http.ResponseWriter, r *http.Request, jobs []*job, out sink, s stream) {
	defer s.Close()
	err := a.run(r, jobs, out)
	switch {
	case err == nil:
	case !s.Started():
		a.fail(w, r, err, 0)
	default:
		a.note(r, err)
		e := errs.As(err)
		if s.send(errorOf(e, statusOf(e))) == nil {
			_ = s.End("", []byte("[DONE]")) // the client may have gone
		}
	}
}
