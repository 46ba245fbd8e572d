package app

import (
	"context"
	"crypto/ed25519"
	"errors"

	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/contract/sign"
	"macaron/internal/ids"
	"macaron/internal/mindforge/ledger"
	forge "macaron/internal/mindforge/serve"
	revisions "macaron/internal/mint/catalogue"
	"macaron/internal/registry"
)

// openReleases sets up what is served of releases. keys sign contracts where that is asked for.
func (a *App) openReleases(r *registry.Registry, keys []ed25519.PublicKey) *forge.Releases {
	if !a.cfg.Signed.Required {
		keys = nil
	}
	return forge.New(forge.Options{
		Ledger:   &ledger.Ledger{Store: a.store, Clock: a.clock, Limits: ledger.DefaultLimits},
		Registry: r, Revisions: a.revisions, Traffic: a.store, Clock: a.clock, Keys: keys,
		Report: func(err error) {
			a.log.Error("a release cannot be served here; the one before stays in force", "err", err)
		},
	})
}

// lookAtTrials judges canaries, and takes back those that are worse.
func (a *App) lookAtTrials(ctx context.Context) {
	if err := a.releases.Look(ctx); err != nil && ctx.Err() == nil {
		a.log.Error("the trials of canaries cannot be judged", "err", err)
	}
}

// Serving gives what the contract's file and the policy records serve an owner now, and the
// signature that stands beside the file, if one does.
type Serving func(ctx context.Context, owner string) (registry.Snapshot, string, error)

// Releases opens what a command does with releases, beside a running server or without one, and also where
// the contract's file cannot be used: going back to a release does not wait for its repair.
func Releases(c config.Config, s Store, k *revisions.Catalogue) (*forge.Releases, Serving, func() error, error) {
	keys, err := sign.Publics(c.Signed.Keys)
	if err != nil {
		return nil, nil, nil, err
	}
	trust := sign.Trust{Required: c.Signed.Required, Keys: keys}
	reg, err := registry.Open(c.Home, c.Contract, registry.Options{Overlays: c.Signed.Overlays, Trust: trust.Check, Lenient: true})
	if err != nil {
		return nil, nil, nil, err
	}
	if !trust.Required {
		keys = nil
	}
	var unserved error
	r := forge.New(forge.Options{Ledger: &ledger.Ledger{Store: s, Clock: clock.System{}, Limits: ledger.DefaultLimits}, Registry: reg, Revisions: k, Traffic: s, Clock: clock.System{}, Keys: keys,
		Report: func(err error) { unserved = err }})
	serving := func(ctx context.Context, owner string) (registry.Snapshot, string, error) {
		now, err := (&catalogue{reg, k, r}).fromFile(ctx, owner)
		signature, _ := sign.ReadFile(c.Contract + sign.Suffix) // where one is needed, its absence is told when it is checked
		return now, string(signature), err
	}
	return r, serving, func() error { return errors.Join(unserved, reg.Close()) }, nil
}

// released lists the revisions that the releases of all owners name which a name stands on, or
// has stood on since the retention began: they are kept from collection.
func released(ctx context.Context, s Store) ([]ids.Digest, error) {
	r := forge.New(forge.Options{Ledger: &ledger.Ledger{Store: s, Clock: clock.System{}, Limits: ledger.DefaultLimits}})
	return r.Reached(ctx, clock.System{}.Now().Add(-retained))
}
