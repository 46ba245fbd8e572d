package app

import (
	"net/http"

	"macaron/internal/auth"
)

// authenticate finds out for whom a request acts, before anything is looked up for it, and puts it
// into its context.
func (a *App) authenticate(mux *http.ServeMux, scopes map[string]auth.Scope) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(auth.With(r.Context(), auth.Anybody())))
	})
}
