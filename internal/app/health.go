package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"time"

	"macaron/internal/auth"
	"macaron/internal/disk"
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
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok", "version": a.version})
}

// readyz says whether a turn could be served now: 200, or 503 with the reasons, which a server that
// asks for keys tells only to those who have one.
func (a *App) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, stop := context.WithTimeout(r.Context(), 5*time.Second)
	defer stop()
	status, checks := http.StatusOK, a.checks(ctx)
	_, stranger := a.keys.Authenticate(ctx, r.Header)
	word := "ready"
	for i, c := range checks {
		if !c.Ready {
			status, word = http.StatusServiceUnavailable, "not ready"
		}
		if stranger != nil { // reasons name engines and directories
			checks[i].Error, checks[i].Next = "", ""
		}
	}
	writeJSON(w, status, map[string]any{"status": word, "checks": checks})
}

func (a *App) checks(ctx context.Context) []check {
	all := []check{checked("model", a.generator.Ready(ctx)), checked("log", a.writable(ctx))}
	if a.stop.asked.Load() {
		all = append(all, checked("serving", errs.New(errs.UpstreamUnavailable, "the process is stopping", "")))
	}
	return all
}

// writable finds out whether the log could take a turn: it can be read, and its
// disk takes a byte.
func (a *App) writable(ctx context.Context) error {
	if _, err := a.sessions.List(ctx, auth.Local, time.Time{}, 1); err != nil {
		return err
	}
	f, err := os.CreateTemp(a.cfg.Home, ".ready-*")
	if err == nil {
		_, err = f.Write([]byte{1})
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return disk.Error(err, "MACARON_HOME cannot be written")
}

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
