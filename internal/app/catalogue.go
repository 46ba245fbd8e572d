package app

import (
	"context"

	"macaron/internal/auth"
	"macaron/internal/contract"
	"macaron/internal/contract/sign"
	"macaron/internal/ids"
	"macaron/internal/mint/artifact"
	revisions "macaron/internal/mint/catalogue"
	"macaron/internal/registry"
	"macaron/internal/turn"
)

// catalogue shows the registry in the words of the turn. The policy record of an owner's
// adapter, while it names a revision, goes before the contract's source.
type catalogue struct {
	registry *registry.Registry
	policies *revisions.Catalogue
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
	a.catalogue = &catalogue{r, a.revisions}
	return nil
}

// Current implements turn.Catalogue.
func (c *catalogue) Current(ctx context.Context, owner, user string) (turn.Catalog, error) {
	s, err := c.registry.Current(ctx, owner)
	if err != nil {
		return turn.Catalog{}, err
	}
	champions, err := c.policies.Champions(ctx, owner)
	if err != nil {
		return turn.Catalog{}, err
	}
	who, out := auth.Of(ctx), turn.Catalog{Contract: s.Contract}
	for i, e := range s.Adapters {
		rev := served(e.Revision, champions)
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

// Contract implements turn.Catalogue.
func (c *catalogue) Contract(h ids.Digest) (*contract.Contract, error) { return c.registry.Contract(h) }
