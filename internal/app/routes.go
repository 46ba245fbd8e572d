package app

import (
	"net/http"

	"macaron/internal/errs"
	"macaron/internal/wire/openai"
)

// routes mounts every interface on one mux behind the guard.
func (a *App) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.metrics.Handler())
	mux.HandleFunc("GET /healthz", a.healthz)
	mux.HandleFunc("GET /readyz", a.readyz)
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		openai.WriteError(w, errs.New(errs.NotFound, "there is nothing at this address", "GET /v1/models and POST /v1/chat/completions are served"))
	})
	return a.identify(a.watch(headers(a.guard(mux))))
}
