// Package runs is /v1/runs: tasks are started in the background, looked at, resumed,
// cancelled and decided about. It decodes and encodes; the harness does the work.
// docs/HARNESS.md has the fields.
package runs

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/ids"
	"macaron/internal/limits"
	"macaron/internal/record"
	"macaron/internal/transcript"
	"macaron/internal/wire/chatapi"
)

// Harness is what the API needs of the harness.
type Harness interface {
	Start(ctx context.Context, owner string, task harness.Task, o harness.Options) (string, error)
	Continue(ctx context.Context, owner, id string, d harness.Decision, o harness.Options) error
	Cancel(ctx context.Context, owner, id string) error
	Approve(ctx context.Context, owner, id, call string, yes bool, words string) error
	Judge(ctx context.Context, owner, id string, f record.Feedback) error
	Transcript(ctx context.Context, owner, id string) (*transcript.Run, error)
	List(ctx context.Context, owner, before string, limit int) ([]record.RunState, error)
	Records(ctx context.Context, owner, id string, after int64) ([]record.Record, error)
	File(ctx context.Context, owner, id string, digest ids.Digest) ([]byte, error)
}

// Deps are the handler's surroundings.
type Deps struct {
	Harness Harness
	Owner   func(*http.Request) string // tenant of a request
	Fail    func(http.ResponseWriter, error)
}

// Handler serves the paths below /v1/runs.
func Handler(d Deps) http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range map[string]func(w http.ResponseWriter, r *http.Request) error{
		"POST /v1/runs":                    d.start,
		"GET /v1/runs":                     d.list,
		"GET /v1/runs/{id}":                d.get,
		"GET /v1/runs/{id}/records":        d.records,
		"GET /v1/runs/{id}/files/{digest}": d.file,
		"POST /v1/runs/{id}/resume":        d.resume,
		"POST /v1/runs/{id}/cancel":        d.cancel,
		"POST /v1/runs/{id}/approve":       d.approve,
		"POST /v1/runs/{id}/feedback":      d.judge,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := h(w, r); err != nil {
				d.Fail(w, err)
			}
		})
	}
	return mux
}

func (d Deps) start(w http.ResponseWriter, r *http.Request) error {
	task, o, err := readTask(w, r)
	if err != nil {
		return err
	}
	id, err := d.Harness.Start(r.Context(), d.Owner(r), task, o)
	if err != nil {
		return err
	}
	return d.tell(w, r, id)
}

func (d Deps) get(w http.ResponseWriter, r *http.Request) error {
	return d.tell(w, r, r.PathValue("id"))
}

func (d Deps) resume(w http.ResponseWriter, r *http.Request) error {
	m, err := members(w, r, "retry", "assume_done")
	if err != nil {
		return err
	}
	var decision harness.Decision
	for name, at := range map[string]*string{"retry": &decision.Retry, "assume_done": &decision.AssumeDone} {
		if *at, err = chatapi.Optional(name, m[name], limits.NameBytes); err != nil {
			return err
		}
	}
	id := r.PathValue("id")
	if err := d.Harness.Continue(r.Context(), d.Owner(r), id, decision, harness.Options{}); err != nil {
		return err
	}
	return d.tell(w, r, id)
}

func (d Deps) cancel(w http.ResponseWriter, r *http.Request) error {
	if _, err := members(w, r); err != nil {
		return err
	}
	if err := d.Harness.Cancel(r.Context(), d.Owner(r), r.PathValue("id")); err != nil {
		return err
	}
	return d.tell(w, r, r.PathValue("id"))
}

// approve records a yes or no and, unless it is told otherwise, has the run go on.
func (d Deps) approve(w http.ResponseWriter, r *http.Request) error {
	m, err := members(w, r, "call", "approve", "reason", "resume")
	if err != nil {
		return err
	}
	call, err := limits.Text("call", m["call"], limits.NameBytes)
	if err != nil {
		return err
	}
	yes, err := limits.Bool("approve", m["approve"])
	if err != nil {
		return err
	}
	words, err := chatapi.Optional("reason", m["reason"], limits.SchemaBytes)
	if err != nil {
		return err
	}
	resume := true
	if !limits.Absent(m["resume"]) {
		if resume, err = limits.Bool("resume", m["resume"]); err != nil {
			return err
		}
	}
	id := r.PathValue("id")
	if err := d.Harness.Approve(r.Context(), d.Owner(r), id, call, yes, words); err != nil {
		return err
	}
	if resume {
		if err := d.Harness.Continue(r.Context(), d.Owner(r), id, harness.Decision{}, harness.Options{}); err != nil {
			return err
		}
	}
	return d.tell(w, r, id)
}

// reasonBytes bounds what a person says of a run.
const reasonBytes = 2 << 10

func (d Deps) judge(w http.ResponseWriter, r *http.Request) error {
	m, err := members(w, r, "score", "reason")
	if err != nil {
		return err
	}
	score, err := limits.Whole("score", m["score"], -1, 1)
	if err != nil {
		return err
	}
	reason, err := chatapi.Optional("reason", m["reason"], reasonBytes)
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	f := record.Feedback{Score: int(score), Reason: reason}
	if err := d.Harness.Judge(r.Context(), d.Owner(r), id, f); err != nil {
		return err
	}
	return chatapi.WriteJSON(w, judged{id, f}) // who may judge may not always read
}

func (d Deps) list(w http.ResponseWriter, r *http.Request) error {
	limit, q := 50, r.URL.Query()
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 200 {
			return errs.New(errs.InvalidRequest, "limit is "+errs.Clip(text), "use a whole number from 1 to 200").In("limit")
		}
		limit = n
	}
	before := q.Get("before")
	if before != "" {
		if err := ids.Check(ids.Run, before); err != nil {
			return err
		}
	}
	all, err := d.Harness.List(r.Context(), d.Owner(r), before, limit)
	if err != nil {
		return err
	}
	return chatapi.WriteJSON(w, List(all, limit))
}

// records are the run's own, one JSON object a line, as `macaron data export` has them.
func (d Deps) records(w http.ResponseWriter, r *http.Request) error {
	after := int64(0)
	if text := r.URL.Query().Get("after"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return errs.New(errs.InvalidRequest, "after is "+errs.Clip(text), "use the seq of a record").In("after")
		}
		after = n
	}
	all, err := d.Harness.Records(r.Context(), d.Owner(r), r.PathValue("id"), after)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/jsonl")
	for _, rec := range all {
		line, err := record.EncodeLine(rec)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return nil // the client has left
		}
	}
	return nil
}

func (d Deps) file(w http.ResponseWriter, r *http.Request) error {
	digest, err := ids.ParseDigest(r.PathValue("digest"))
	if err != nil {
		return err
	}
	b, err := d.Harness.File(r.Context(), d.Owner(r), r.PathValue("id"), digest)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment")
	_, _ = w.Write(b) // the client may have left
	return nil
}

// members reads a body of a JSON object that has none but known members; an absent body is
// an empty one.
func members(w http.ResponseWriter, r *http.Request, known ...string) (map[string]json.RawMessage, error) {
	if r.ContentLength == 0 {
		return nil, nil
	}
	body, err := chatapi.Body(w, r)
	if err != nil {
		return nil, err
	}
	m, err := limits.Object("", body)
	if err != nil {
		return nil, err
	}
	return m, only(m, known)
}
