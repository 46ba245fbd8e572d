package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/auth"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	forge "macaron/internal/mindforge/serve"
	revisions "macaron/internal/mint/catalogue"
	"macaron/internal/registry"
	revisionsapi "macaron/internal/wire/revisions"
)

// served is the revision of a registered adapter that an owner's turns get.
func served(rev adapter.Revision, champions map[string]adapter.Pointer) adapter.Revision {
	p, ok := champions[rev.Name]
	if !ok || upstreams(rev.Source) {
		return rev
	}
	return adapter.Revision{Name: rev.Name, Hash: p.Revision, Base: p.Base, Rank: p.Rank, Alpha: p.Alpha, Targets: p.Targets, Source: fmt.Sprintf("policy:%d", p.Version)}
}

// upstreams tells whether a source lives at an engine below, which knows it by a name.
func upstreams(source string) bool { return strings.HasPrefix(source, "model:") }

// Servable refuses a name that a contract gives nobody of an owner an adapter for, or none that can be
// served another revision.
func Servable(k *contract.Contract, owner, name string) error {
	a, ok := k.Adapter(name)
	if !ok || !a.Within(owner) {
		return noAdapter(name)
	}
	if upstreams(a.Source) {
		return errs.New(errs.Unsupported, "the adapter "+name+" lives at an engine below as "+a.Source, "publish there; policy records say what the embedded engine serves")
	}
	return nil
}

// Unreleased refuses to move policy records of an owner whose champion is a release: the release
// names the revisions, and the move would have no effect.
func Unreleased(ctx context.Context, r *forge.Releases, owner string) error {
	released, pair, err := r.Current(ctx, owner, "")
	if err == nil && released != nil {
		err = errs.New(errs.InvalidRequest, "the release "+pair.Release.Short()+" is in force, and names the revision of every adapter", "promote a release that has the new one (`macaron forge promote`), or go back to the contract's file (`macaron forge promote none`)")
	}
	return err
}

func noAdapter(name string) error {
	return errs.New(errs.AdapterNotFound, "the contract has no adapter "+errs.Clip(name), "`macaron adapter ls` lists them")
}

// published is the catalogue over HTTP.
func (a *App) published() http.Handler {
	return revisionsapi.Handler(revisionsapi.Deps{
		Catalogue: a.revisions, Owner: auth.Owner, Fail: a.fail,
		By: func(r *http.Request) string { return auth.Of(r.Context()).KeyID },
		Servable: func(ctx context.Context, owner, name string) (ids.Digest, error) {
			if err := Unreleased(ctx, a.releases, owner); err != nil {
				return "", err
			}
			now, err := a.catalogue.registry.Current(ctx, owner)
			if err != nil {
				return "", err
			}
			who, err := auth.Of(ctx), Servable(now.Contract, owner, name)
			if err != nil {
				return "", err
			}
			if a, _ := now.Contract.Adapter(name); who.User != "" && !a.For(owner, who.User) || !who.May(name) {
				return "", noAdapter(name) // for this key it does not exist
			}
			return now.Contract.Hash(), nil
		},
		Collect: func(ctx context.Context, dryRun bool) (revisions.Collected, error) {
			k := Collection(a.cfg.Home, a.cfg.Contract, a.store)
			k.DryRun = dryRun
			return a.revisions.Collect(ctx, k)
		},
	})
}

// publishing are the routes of the catalogue.
func (a *App) publishing() []entry {
	published := a.published()
	return []entry{
		{"GET /v1/revisions", auth.Read, published},
		{"GET /v1/revisions/{hash}", auth.Read, published},
		{"GET /v1/revisions/{hash}/files/{file}", auth.Read, published},
		{"GET /v1/policies", auth.Read, published},
		{"GET /v1/policies/{name}", auth.Read, published},
		{"GET /v1/policies/{name}/history", auth.Read, published},
		{"POST /v1/policies/{name}/promote", auth.Publish, published},
		{"POST /v1/policies/{name}/rollback", auth.Publish, published},
		{"POST /v1/policies/{name}/alias/{alias}", auth.Publish, published},
		{"POST /admin/revisions/gc", auth.Admin, published},
	}
}

// retained is how long what a name has stood on is kept.
const retained = 30 * 24 * time.Hour

// Collection is how the catalogue of a home is collected where nothing else is said.
func Collection(home, contractPath string, s Store) revisions.Collection {
	return revisions.Collection{Retention: retained, Grace: time.Hour, Roots: func(ctx context.Context) ([]ids.Digest, error) {
		all, err := registry.Named(home, contractPath)
		if err != nil {
			return nil, err
		}
		more, err := released(ctx, s)
		return append(all, more...), err
	}}
}
