package app

import (
	"context"

	"macaron/internal/adapter"
	"macaron/internal/auth"
	"macaron/internal/backend"
	"macaron/internal/bench"
	"macaron/internal/errs"
	"macaron/internal/harness"
)

// BenchCards gives what writes cards in a measurement: this machine's model with the
// adapter of a label.
func (a *App) BenchCards(ctx context.Context, label string) (backend.Generator, adapter.Revision, error) {
	now, err := a.catalogue.Current(auth.With(ctx, auth.Principal{Owner: auth.Local}), auth.Local, "", "")
	if err != nil {
		return nil, adapter.Revision{}, err
	}
	for _, r := range now.Adapters {
		if r.Name == label {
			return a.runs.Deps.Generator, r, nil
		}
	}
	return nil, adapter.Revision{}, errs.New(errs.AdapterNotFound, "there is no adapter "+label, "see `macaron adapter ls`").In("adapter")
}

// Bench gives what a measurement runs on: this machine's model, sandbox and log, under the
// measurement's contract for the adapter that acts here. The tools come with each task.
func (a *App) Bench(ctx context.Context) (harness.Deps, bench.Policy, error) {
	ctx = auth.With(ctx, auth.Principal{Owner: auth.Local})
	now, err := a.catalogue.Current(ctx, auth.Local, "", "")
	if err != nil {
		return harness.Deps{}, bench.Policy{}, err
	}
	p, err := bench.NewPolicy(now.Contract, now.Adapters)
	d := a.runs.Deps
	d.Contracts = p
	return d, p, err
}
