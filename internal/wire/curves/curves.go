// Package curves shows training runs over HTTP: their list, what was measured of one, and
// that live as server-sent events. docs/formats/metrics.md has the format.
package curves

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/train/curve"
)

// Runs lists training runs; *mint.Service is one.
type Runs interface {
	Models(ctx context.Context, owner string, p mint.Page) ([]mint.Model, int, error)
	Model(ctx context.Context, owner, id string) (mint.Model, error)
}

// Deps are what the interface stands on.
type Deps struct {
	Runs  func() (Runs, error) // the training service, or why there is none
	Lines func(owner, run string, at int64, most int) (lines []curve.Line, next int64, err error)
	Owner func(*http.Request) string
	Fail  func(http.ResponseWriter, error)
	Stop  <-chan struct{} // closed: streams end
}

// The bounds of an answer, and how often a stream looks for more and says that it is there.
const (
	mostRuns  = 200
	mostLines = 5000
	lookEvery = 500 * time.Millisecond
	signEvery = 15 * time.Second
)

// Handler serves GET /v1/training/runs, /v1/training/runs/{id} and /v1/training/runs/{id}/events.
func Handler(d Deps) http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /v1/training/runs": d.list, "GET /v1/training/runs/{id}": d.run, "GET /v1/training/runs/{id}/events": d.events,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := serve(w, r); err != nil {
				d.Fail(w, err)
			}
		})
	}
	return mux
}

// Run is a training run as it is shown.
type Run struct {
	ID      string    `json:"id"`
	Base    string    `json:"base"`
	Rank    int       `json:"rank"`
	Steps   int64     `json:"steps"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`
	Over    bool      `json:"over"`
	Planned int64     `json:"planned,omitempty"` // steps that it will have, as its client says
}

func runOf(m mint.Model) Run {
	return Run{Planned: m.Planned(), ID: m.ID, Base: m.Base, Rank: m.Spec.Rank, Steps: m.Steps, Created: m.Created, Used: m.Used, Over: m.Unloaded || m.Corrupted}
}

func (d Deps) list(w http.ResponseWriter, r *http.Request) error {
	runs, err := d.Runs()
	if err != nil {
		return err
	}
	all, total, err := runs.Models(r.Context(), d.Owner(r), mint.Page{Limit: mostRuns})
	if err != nil {
		return err
	}
	out := []Run{}
	for _, m := range all {
		out = append(out, runOf(m))
	}
	return answer(w, map[string]any{"data": out, "total": total})
}

// one finds the run that a request names, and the place from which on it asks.
func (d Deps) one(r *http.Request) (m mint.Model, at int64, err error) {
	runs, err := d.Runs()
	if err != nil {
		return m, 0, err
	}
	if text := r.URL.Query().Get("at"); text != "" {
		if at, err = strconv.ParseInt(text, 10, 64); err != nil || at < 0 {
			return m, 0, errs.New(errs.InvalidRequest, "at is no place in the metrics", "give the next of an earlier answer").In("at")
		}
	}
	m, err = runs.Model(r.Context(), d.Owner(r), r.PathValue("id"))
	return m, at, err
}

func (d Deps) run(w http.ResponseWriter, r *http.Request) error {
	m, at, err := d.one(r)
	if err != nil {
		return err
	}
	lines, next, err := d.Lines(m.Owner, m.ID, at, mostLines)
	if err != nil {
		return err
	}
	if lines == nil {
		lines = []curve.Line{}
	}
	return answer(w, map[string]any{"run": runOf(m), "data": lines, "next": next})
}

func answer(w http.ResponseWriter, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(b, '\n')) // a client that went away is no failure of ours
	return nil
}

// events sends the lines of a run as they come, from a place on, until the client leaves, or the
// place is not there any more: a run that goes on from a checkpoint cuts its lines.
func (d Deps) events(w http.ResponseWriter, r *http.Request) error {
	m, at, err := d.one(r)
	if err != nil {
		return err
	}
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	look, sign := time.NewTicker(lookEvery), time.NewTicker(signEvery)
	defer look.Stop()
	defer sign.Stop()
	over := false // what came before the stop is still sent
	for begun := false; ; begun = true {
		lines, next, err := d.Lines(m.Owner, m.ID, at, mostLines)
		if err != nil && begun {
			return nil // the client asks again, and is told why
		}
		if err != nil {
			return err
		}
		for _, l := range lines {
			b, err := json.Marshal(l)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "data: %s\n\n", b); err != nil {
				return nil
			}
		}
		if len(lines) == 0 {
			select {
			case <-sign.C:
				if _, err := fmt.Fprint(w, ": \n\n"); err != nil {
					return nil
				}
			default:
			}
		}
		at = next
		if err := control.Flush(); err != nil {
			return nil // the client has left
		}
		if over {
			return nil
		}
		select {
		case <-look.C:
		case <-r.Context().Done():
			return nil
		case <-d.Stop:
			over = true
		}
	}
}
