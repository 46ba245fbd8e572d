package app

import (
	"context"
	"slices"

	"macaron/internal/adapter"
	"macaron/internal/auth"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/act"
	forge "macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/evaluation/evaluator"
	"macaron/internal/mindforge/evaluation/safety"
	"macaron/internal/mindforge/world"
	"macaron/internal/mindforge/world/compose"
	"macaron/internal/mindforge/world/terminal"
	"macaron/internal/mindforge/world/text"
)

// Evaluator opens an evaluator whose attempts are runs of the harness of this home: the
// shipped worlds, the cases of safety, the committed catalogue. Its home is its own: runs of
// sealed tasks stand in that log.
func (a *App) Evaluator(ctx context.Context, dir, path string, outside []string) (*evaluator.Evaluator, error) {
	d, _, err := a.Bench(ctx)
	if err != nil {
		return nil, err
	}
	cases, err := safety.New()
	if err != nil {
		return nil, err
	}
	worlds := []world.World{compose.New(), terminal.New(), text.New()}
	o := evaluator.Options{Dir: dir, Contract: path, Outside: outside, Safety: cases, Catalogue: forge.Committed(),
		Actor: &act.Actor{Deps: d, Owner: auth.Local, Worlds: append(slices.Clone(worlds), cases), Source: a.served(ctx)}}
	for _, w := range worlds {
		o.Worlds = append(o.Worlds, mindforge.World(w))
	}
	return evaluator.Open(o)
}

// served gives the revisions that are served here under the names that a contract has. A pair
// lists those that are others.
func (a *App) served(ctx context.Context) func(*contract.Contract) ([]adapter.Revision, error) {
	return func(c *contract.Contract) ([]adapter.Revision, error) {
		now, err := a.catalogue.Current(ctx, auth.Local, "", "")
		if err != nil {
			return nil, err
		}
		var out []adapter.Revision
		for _, r := range now.Adapters {
			if _, ok := c.Adapter(r.Name); ok {
				out = append(out, r)
			}
		}
		if len(out) == 0 {
			return nil, errs.New(errs.AdapterNotFound, "the evaluator's home serves no adapter of the contract", "see `macaron adapter ls` with its --home")
		}
		return out, nil
	}
}
