package app

import (
	"net/http"

	"macaron/internal/backend"
	"macaron/internal/errs"
)

// unlooped refuses a request that this process made itself, because one of its engines
// is this process or asks it in turn: before the request asks for a place in the queue
// that the one it came from holds.
func (a *App) unlooped(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		via := r.Header.Get(backend.ViaHeader)
		if via != "" {
			w.Header().Set(backend.InstanceHeader, a.instance)
		}
		if r.Method == http.MethodPost && backend.Loops(via, a.instance) {
			a.fail(w, errs.New(errs.UpstreamFailed, "this server is its own engine, or the request has passed through too many others", "the operator sets the engine's url to that of a model server"))
			return
		}
		next.ServeHTTP(w, r.WithContext(backend.WithVia(r.Context(), via)))
	})
}
