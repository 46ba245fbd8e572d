package app

import (
	"context"
	"net/http"

	"macaron/internal/auth"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/web"
	"macaron/internal/wire/openai"
)

// routes mounts every interface on one mux behind the guard.
func (a *App) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.metrics.Handler())
	mux.HandleFunc("GET /healthz", a.healthz)
	mux.HandleFunc("GET /readyz", a.readyz)
	mux.Handle("/v1/", openai.Handler(openai.Deps{
		Turns: a.turns, Catalogue: a.catalogue, Owner: auth.Owner, Clock: a.clock, Log: a.log, Failed: a.metrics.Error,
	}))
	pages := web.Handler(web.Deps{
		Log: a.sessions, Adapters: a.adapters, Fail: a.fail,
		Owner: auth.Owner,
	})
	mux.HandleFunc("POST /admin/route", a.route)
	mux.Handle("/v1/feedback", pages)
	mux.Handle("/", pages)
	return a.identify(a.watch(headers(a.guard(a.authenticate(mux)))))
}

func (a *App) fail(w http.ResponseWriter, err error) {
	e := errs.As(err)
	a.metrics.Error(string(e.Code))
	if e.Code.Status() >= 500 {
		a.log.Error("request failed", "id", w.Header().Get("X-Request-Id"), "code", string(e.Code), "err", err)
	}
	openai.WriteError(w, err)
}

// adapters lists the specialists as the page shows them.
func (a *App) adapters(ctx context.Context, owner string) ([]web.Adapter, error) {
	catalog, err := a.catalogue.Current(ctx, owner)
	if err != nil {
		return nil, err
	}
	var out []web.Adapter
	for _, r := range catalog.Adapters {
		entry, ok := catalog.Contract.Adapter(r.Name)
		if !ok {
			entry = contract.Adapter{Title: r.Name}
		}
		out = append(out, web.Adapter{Title: entry.Title, Description: entry.Description,
			Default: r.Name == catalog.Contract.Router.Default, Revision: r})
	}
	return out, nil
}
