package app

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"macaron/internal/auth"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/web"
	"macaron/internal/wire/anthropic"
	"macaron/internal/wire/forge"
	"macaron/internal/wire/openai"
	"macaron/internal/wire/responses"
	runsapi "macaron/internal/wire/runs"
	"macaron/internal/wire/tinker"
)

// entry is one line of the route table. Nothing can be reached that does not stand in it, and
// there is no line without a scope.
type entry struct {
	pattern string // of http.ServeMux
	scope   auth.Scope
	handler http.Handler
}

// table lists every route of the one listener. A handler that serves several has a line for each.
func (a *App) table() []entry {
	chat := openai.Handler(openai.Deps{
		Turns: a.turns, Routes: a.turns, Catalogue: a.catalogue, Owner: auth.Owner, Users: auth.Acting, Clock: a.clock, Log: a.log, Failed: a.metrics.Error, Stream: a.stream,
	})
	messages := anthropic.Handler(anthropic.Deps{
		Turns: a.turns, Catalogue: a.catalogue, Owner: auth.Owner, Users: auth.Acting, Clock: a.clock, Log: a.log, Failed: a.metrics.Error, Stream: a.stream,
	})
	models := either(anthropic.Asked, messages, chat)
	pages := web.Handler(web.Deps{Log: a.sessions, Adapters: a.adapters, Fail: a.fail, Owner: auth.Owner})
	answers := a.answers()
	tasks := runsapi.Handler(runsapi.Deps{Harness: a.runs, Owner: auth.Owner, Fail: a.fail})
	curves := a.trainingCurves()
	ledgered := forge.Handler(forge.Deps{Ledger: a.releases.Ledger, Trial: a.releases.Trial, Owner: auth.Owner, Fail: a.fail})
	protocol := a.desk.Handler()
	return []entry{
		{"GET /healthz", auth.Public, http.HandlerFunc(a.healthz)},
		{"GET /readyz", auth.Public, http.HandlerFunc(a.readyz)},
		{"GET /metrics", auth.Metrics, a.metrics.Handler()},

		{"POST /v1/chat/completions", auth.Chat, chat},
		{"POST /v1/messages", auth.Chat, messages},
		{"POST /v1/messages/count_tokens", auth.Chat, messages},
		{"GET /v1/models", auth.Any, models},
		{"GET /v1/models/{id...}", auth.Any, models},
		{"POST /v1/responses", auth.Chat, answers},
		{"GET /v1/responses/{id}", auth.Chat, answers},
		{"DELETE /v1/responses/{id}", auth.Chat, answers},
		{"POST /v1/responses/{id}/cancel", auth.Chat, answers},
		{"GET /v1/responses/{id}/input_items", auth.Chat, answers},
		{"POST /v1/conversations", auth.Chat, answers},
		{"GET /v1/conversations/{id}", auth.Chat, answers},
		{"DELETE /v1/conversations/{id}", auth.Chat, answers},
		{"GET /v1/conversations/{id}/items", auth.Chat, answers},
		{"POST /v1/feedback", auth.Feedback, pages},

		{"POST /v1/runs", auth.Runs, tasks},
		{"GET /v1/training/runs", auth.Read, curves},
		{"GET /v1/training/runs/{id}", auth.Read, curves},
		{"GET /v1/training/runs/{id}/events", auth.Read, curves},
		{"GET /v1/forge/lineage", auth.Read, ledgered},
		{"GET /v1/forge/ledger", auth.Read, ledgered},
		{"GET /v1/forge/aliases", auth.Read, ledgered},
		{"GET /v1/runs", auth.Read, tasks},
		{"GET /v1/runs/{id}", auth.Read, tasks},
		{"GET /v1/runs/{id}/records", auth.Read, tasks},
		{"GET /v1/runs/{id}/files/{digest}", auth.Read, tasks},
		{"POST /v1/runs/{id}/resume", auth.Runs, tasks},
		{"POST /v1/runs/{id}/cancel", auth.Runs, tasks},
		{"POST /v1/runs/{id}/approve", auth.Approve, tasks},
		{"POST /v1/runs/{id}/feedback", auth.Feedback, tasks},

		{"POST /mcp", auth.Runs, protocol},
		{"GET /mcp", auth.Runs, protocol},
		{"DELETE /mcp", auth.Runs, protocol},

		// The page itself holds nothing; what it shows it asks for with a key.
		{"GET /{$}", auth.Public, pages},
		{"GET /runs", auth.Public, pages},
		{"GET /training", auth.Public, pages},
		{"GET /forge/lineage", auth.Public, pages},
		{"GET /assets/{name}", auth.Public, pages},
		{"GET /admin/sessions", auth.Read, pages},
		{"GET /admin/sessions/{id}", auth.Read, pages},
		{"GET /admin/adapters", auth.Read, pages},
		{"POST /admin/reload", auth.Admin, http.HandlerFunc(a.reload)},
		{"POST /v1/route", auth.Chat, chat},
		{"POST /admin/route", auth.Chat, http.HandlerFunc(a.route)},
		{"GET /admin/route/{id}", auth.Read, http.HandlerFunc(a.explain)},
	}
}

// shared is a log that other processes have open too.
type shared interface {
	AskCancel(ctx context.Context, owner, turn string) error
	Cancels(ctx context.Context, stop func(owner, turn string))
}

// answers is the Responses API; cancellations come from other processes too, if there are any.
func (a *App) answers() *responses.API {
	d := responses.Deps{Turns: a.turns, Log: a.sessions, Owner: auth.Owner, Users: auth.Acting, Logger: a.log, Failed: a.metrics.Error, Stream: a.stream, Stopping: a.stop.begun}
	others, are := a.store.(shared)
	if are {
		d.Elsewhere = others.AskCancel
	}
	api := responses.New(d)
	if are {
		a.inBackground(time.Second, func(ctx context.Context) { others.Cancels(ctx, api.Stop) })
	}
	a.onClose(func() error { return api.Close(a.stop.within()) })
	return api
}

// routes mounts the table behind the guard and the one check of credentials.
func (a *App) routes() http.Handler {
	mux, scopes, methods := http.NewServeMux(), map[string]auth.Scope{}, map[string]string{}
	a.entries = slices.Concat(a.table(), a.cards(), a.publishing(), a.trainingTable())
	if a.alone {
		a.entries = append(slices.DeleteFunc(a.entries, outsideTraining), entry{"GET /{$}", auth.Public, http.RedirectHandler("/training", http.StatusFound)})
	}
	for _, e := range a.entries {
		mux.Handle(e.pattern, e.handler)
		scopes[e.pattern] = e.scope
		method, path, _ := strings.Cut(e.pattern, " ")
		methods[path] = strings.TrimPrefix(methods[path]+", "+method, ", ")
	}
	for path, allowed := range methods { // less specific than the lines above, so only other methods come here
		mux.Handle(path, a.otherMethod(allowed))
	}
	mux.HandleFunc("/", a.nothing)
	return a.identify(anthropic.Speak(a.watch(headers(a.inTime(a.guard(a.unlooped(a.traced(a.authenticate(mux, scopes)))))))))
}

// nothing answers what stands in no line of the table.
func (a *App) nothing(w http.ResponseWriter, r *http.Request) {
	next := "the API is under /v1/, the chat page at /"
	if a.alone {
		next = "this is the training service alone: its API is under " + tinker.Root + "/, the curves at /training; `macaron up` serves chat too"
	}
	a.fail(w, errs.New(errs.NotFound, "there is nothing at "+method(r)+" "+errs.Clip(r.URL.Path), next))
}

func (a *App) otherMethod(allowed string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", allowed)
		a.fail(w, errs.New(errs.NotFound, errs.Clip(r.URL.Path)+" does not answer "+method(r), "use "+allowed))
	})
}

func (a *App) fail(w http.ResponseWriter, err error) {
	e := errs.As(err)
	a.metrics.Error(string(e.Code))
	if e.Code.Status() >= 500 {
		a.log.Error("request failed", "id", w.Header().Get("X-Request-Id"), "code", string(e.Code), "err", err)
	}
	refusal(w, err)
}

// refusal writes an error in the shape of the API that the request speaks.
func refusal(w http.ResponseWriter, err error) {
	if rec, ok := w.(*recorder); ok && rec.tinker {
		tinker.WriteError(w, err)
		return
	}
	if anthropic.Spoken(w) {
		anthropic.WriteError(w, err)
		return
	}
	openai.WriteError(w, err)
}

// either serves what the test holds for with one handler and the rest with another.
func either(test func(*http.Request) bool, one, other http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if test(r) {
			one.ServeHTTP(w, r)
			return
		}
		other.ServeHTTP(w, r)
	})
}

// adapters lists the specialists as the page shows them.
func (a *App) adapters(ctx context.Context, owner string) ([]web.Adapter, error) {
	catalog, err := a.catalogue.Current(ctx, owner, auth.Of(ctx).User, "")
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
