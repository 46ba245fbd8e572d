package app

import (
	"context"

	"macaron/internal/auth"
	"macaron/internal/contract"
	"macaron/internal/contract/sign"
	"macaron/internal/ids"
	"macaron/internal/registry"
	"macaron/internal/turn"
)

// catalogue shows the registry in the words of the turn.
type catalogue struct{ registry *registry.Registry }

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
	a.catalogue = &catalogue{r}
	return nil
}

// Current implements turn.Catalogue.
func (c *catalogue) Current(ctx context.Context, owner string) (turn.Catalog, error) {
	s, err := c.registry.Current(ctx, owner)
	if err != nil {
		return turn.Catalog{}, err
	}
	who, out := auth.Of(ctx), turn.Catalog{Contract: s.Contract}
	for i, e := range s.Adapters {
		if e.Revision.Name == s.Contract.Router.Adapter {
			out.Router = e.Revision
		}
		if !s.Contract.Adapters[i].For(owner) || !who.May(e.Revision.Name) {
			continue // for this tenant or key it does not exist
		}
		out.Adapters = append(out.Adapters, e.Revision)
	}
	return out, nil
}

// Contract implements turn.Catalogue.
func (c *catalogue) Contract(h ids.Digest) (*contract.Contract, error) { return c.registry.Contract(h) }
