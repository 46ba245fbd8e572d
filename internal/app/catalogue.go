package app

import (
	"context"
	"slices"

	"macaron/internal/auth"
	"macaron/internal/contract"
	"macaron/internal/contract/sign"
	"macaron/internal/ids"
	forge "macaron/internal/mindforge/serve"
	"macaron/internal/mint/artifact"
	revisions "macaron/internal/mint/catalogue"
	"macaron/internal/record"
	"macaron/internal/registry"
	"macaron/internal/turn"
)

// catalogue shows what is served in the words of the turn. The release that an owner's champion
// or canary stands on goes before all; without one the contract's file is in force, and the policy
// record of an owner's adapter, while it names a revision, goes before the contract's source.
type catalogue struct {
	registry *registry.Registry
	policies *revisions.Catalogue
	releases *forge.Releases
}

func (a *App) openCatalogue(Options) error {
	keys, err := sign.Publics(a.cfg.Signed.Keys)
	if err != nil {
		return err
	}
	r, err := registry.Open(a.cfg.Home, a.cfg.Contract, registry.Options{
		Overlays: a.cfg.Signed.Overlays,
		Trust:    sign.Trust{Required: a.cfg.Signed.Required, Keys: keys}.Check,
		Report: func(err error) {
			a.log.Error("the changed contract cannot be used; the one before stays in force", "err", err)
		},
	})
	if err != nil {
		return err
	}
	a.onClose(r.Close)
	if a.revisions, err = revisions.Open(revisions.Options{Home: a.cfg.Home, Store: a.store, Clock: a.clock, Parents: revisions.DefaultParents, State: artifact.Renewed(a.cfg.Home)}); err != nil {
		return err
	}
	a.onClose(a.revisions.Close)
	a.releases = a.openReleases(r, keys)
	a.catalogue = &catalogue{r, a.revisions, a.releases}
	a.inBackground(forge.Every, a.lookAtTrials)
	return nil
}

// Current implements turn.Catalogue.
func (c *catalogue) Current(ctx context.Context, owner, user, conversation string) (turn.Catalog, error) {
	s, pair, err := c.served(ctx, owner, conversation)
	if err != nil {
		return turn.Catalog{}, err
	}
	who, out := auth.Of(ctx), turn.Catalog{Contract: s.Contract, Pair: pair}
	for i, e := range s.Adapters {
		rev := e.Revision
		if rev.Name == s.Contract.Router.Adapter {
			out.Router = rev
		}
		if !s.Contract.Adapters[i].For(owner, user) || !who.May(rev.Name) {
			continue // for this tenant, user or key it does not exist
		}
		out.Adapters = append(out.Adapters, rev)
	}
	return out, nil
}

// served is the contract that an owner's conversation is served, with the revisions of all
// its adapters.
func (c *catalogue) served(ctx context.Context, owner, conversation string) (registry.Snapshot, *record.Pair, error) {
	released, pair, err := c.releases.Current(ctx, owner, conversation)
	if err != nil {
		return registry.Snapshot{}, nil, err
	}
	if released != nil {
		return *released, pair, nil
	}
	s, err := c.fromFile(ctx, owner)
	return s, pair, err
}

// fromFile is the contract file's with the policy records before its sources.
func (c *catalogue) fromFile(ctx context.Context, owner string) (registry.Snapshot, error) {
	s, err := c.registry.Current(ctx, owner)
	if err != nil {
		return s, err
	}
	champions, err := c.policies.Champions(ctx, owner)
	if err != nil {
		return s, err
	}
	s.Adapters = slices.Clone(s.Adapters)
	for i := range s.Adapters {
		s.Adapters[i].Revision = served(s.Adapters[i].Revision, champions)
	}
	return s, nil
}

// Contract implements turn.Catalogue.
func (c *catalogue) Contract(h ids.Digest) (*contract.Contract, error) { return c.registry.Contract(h) }
