// Package forge shows the ledger of releases over HTTP: its entries, and the graph of what
// came of what. docs/formats/ledger.md has the form.
package forge

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"macaron/internal/errs"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/lineage"
	"macaron/internal/mindforge/serve"
)

// Deps are what the interface stands on.
type Deps struct {
	Ledger *ledger.Ledger
	Trial  func(ctx context.Context, owner string) (ledger.Alias, serve.Verdict, error)
	Owner  func(*http.Request) string
	Fail   func(http.ResponseWriter, error)
}

// Handler serves GET /v1/forge/lineage, /v1/forge/ledger and /v1/forge/aliases.
func Handler(d Deps) http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(*http.Request) (any, error){
		"GET /v1/forge/lineage": d.lineage, "GET /v1/forge/ledger": d.ledger, "GET /v1/forge/aliases": d.aliases,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			v, err := answer(r)
			if err != nil {
				d.Fail(w, err)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			_ = json.NewEncoder(w).Encode(v) // a client that went away is no failure of ours
		})
	}
	return mux
}

// mostEntries bounds the entries of a graph, and of a page of the ledger.
const (
	mostEntries = 50_000
	mostPage    = 1000
)

func (d Deps) lineage(r *http.Request) (any, error) {
	head, err := d.Ledger.Store.LedgerHead(r.Context(), d.Owner(r))
	if err == nil && head.Seq > mostEntries {
		err = errs.Newf(errs.TooLarge, "the ledger has %d entries; a page shows %d", head.Seq, mostEntries)
	}
	if err != nil {
		return nil, err
	}
	all, err := d.Ledger.All(r.Context(), d.Owner(r), "")
	if err != nil {
		return nil, err
	}
	g, err := lineage.Of(all)
	if id := r.URL.Query().Get("id"); err == nil && id != "" {
		g, err = g.Around(id)
	}
	return map[string]any{"head": head, "graph": g}, err
}

func (d Deps) ledger(r *http.Request) (any, error) {
	q := r.URL.Query()
	after, limit := int64(0), int64(100)
	for name, to := range map[string]*int64{"after": &after, "limit": &limit} {
		if text := q.Get(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < 0 {
				return nil, errs.New(errs.InvalidRequest, name+" is "+errs.Clip(text), "give a number from 0").In(name)
			}
			*to = n
		}
	}
	all, err := d.Ledger.Store.LedgerEntries(r.Context(), d.Owner(r), q.Get("run"), after, int(min(limit, mostPage)))
	return map[string]any{"entries": append([]ledger.Entry{}, all...)}, err
}

func (d Deps) aliases(r *http.Request) (any, error) {
	all, err := d.Ledger.Store.Aliases(r.Context(), d.Owner(r))
	if err != nil {
		return nil, err
	}
	a, verdict, err := d.Trial(r.Context(), d.Owner(r))
	out := map[string]any{"aliases": append([]ledger.Alias{}, all...)}
	if a.Release != "" {
		out["trial"] = verdict
	}
	return out, err
}
