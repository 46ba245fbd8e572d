package app

import (
	"context"
	"path/filepath"
	"slices"

	"macaron/internal/adapter"
	"macaron/internal/auth"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/act"
	forge "macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/evaluation/evaluator"
	"macaron/internal/mindforge/evaluation/safety"
	revisions "macaron/internal/mint/catalogue"
)

// Judging says what an evaluator has to do with.
type Judging struct {
	Dir, Contract string
	Outside       []string // what the loop may write
	Revisions     string   // where the loop keeps revisions, a directory for each; "": this home has them all
	AtOnce        int      // items whose attempts are made at once
	Live          string   // the home of who serves, where that has its log in a file
}

// Evaluator opens an evaluator whose attempts are runs of the harness of this home: the
// shipped worlds, the cases of safety, the committed catalogue. Its home is its own: runs of
// sealed tasks stand in that log.
func (a *App) Evaluator(ctx context.Context, j Judging) (*evaluator.Evaluator, error) {
	cases, err := safety.New()
	if err != nil {
		return nil, err
	}
	worlds := shippedWorlds()
	actor := &act.Actor{Deps: a.runs.Deps, Owner: auth.Local, Worlds: append(slices.Clone(worlds), cases)}
	o := evaluator.Options{Dir: j.Dir, Contract: j.Contract, Outside: j.Outside, Worlds: asWorlds(worlds), Safety: cases, Catalogue: forge.Committed(), Actor: handed{actor, a, j.Revisions}, Acting: actedBy, AtOnce: j.AtOnce}
	if j.Live != "" || a.cfg.LiveStore != "" {
		l, err := openLive(ctx, j.Live, a.cfg.LiveStore)
		if err != nil {
			return nil, err
		}
		a.onClose(l.store.Close)
		o.Traffic = l.traffic
	}
	return evaluator.Open(o)
}

// actedBy is a pair with another of its adapters acting.
func actedBy(p mindforge.Pair, label string) (mindforge.Pair, error) {
	k, err := p.Contract.ActedBy(label)
	return mindforge.Pair{Contract: k, Revisions: p.Revisions}, err
}

// handed is an actor for pairs whose revisions come from elsewhere: each is taken into this home
// before it acts, and is believed by its content alone.
type handed struct {
	mindforge.Actor
	app  *App
	from string
}

// Try implements mindforge.Actor.
func (h handed) Try(ctx context.Context, p mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	for _, r := range p.Revisions {
		if err := h.take(ctx, r); err != nil {
			return mindforge.Outcome{}, err
		}
	}
	return h.Actor.Try(ctx, p, t, seed)
}

// take publishes a revision here that is not here yet.
func (h handed) take(ctx context.Context, r adapter.Revision) error {
	if upstreams(r.Source) {
		return nil
	}
	if _, err := ids.ParseDigest(string(r.Hash)); err != nil {
		return err
	}
	_, err := h.app.catalogue.registry.Dir(r)
	if errs.CodeOf(err) != errs.AdapterNotFound || h.from == "" {
		return err
	}
	files, err := revisions.ReadDir(filepath.Join(h.from, r.Hash.Hex()))
	if err != nil {
		return err
	}
	if _, err := h.app.revisions.Publish(ctx, auth.Local, revisions.Draft{Files: files, Name: r.Name, Expect: r.Hash}); err != nil {
		return err
	}
	_, err = h.app.revisions.Dir(ctx, auth.Local, r.Hash)
	return err
}
