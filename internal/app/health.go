package app

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"macaron/internal/errs"
)

// check is one line of /readyz.
type check struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	Error string `json:"error,omitempty"`
	Next  string `json:"next,omitempty"`
}

// healthz says that the process runs; it depends on nothing else.
func (a *App) healthz(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok", "version": a.opts.Version})
}

// readyz says whether a turn could be served now: 200, or 503 with the reasons.
func (a *App) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, stop := context.WithTimeout(r.Context(), 5*time.Second)
	defer stop()
	status, checks := http.StatusOK, a.checks(ctx)
	word := "ready"
	for _, c := range checks {
		if !c.Ready {
			status, word = http.StatusServiceUnavailable, "not ready"
		}
	}
	writeJSON(w, status, map[string]any{"status": word, "checks": checks})
}

func (a *App) checks(context.Context) []check { return nil }

func checked(name string, err error) check {
	if err == nil {
		return check{Name: name, Ready: true}
	}
	e := errs.As(err)
	return check{Name: name, Error: e.Message, Next: e.Next}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v) // a client that went away is no failure of ours
}
