package app

import (
	"context"

	"macaron/internal/auth"
	"macaron/internal/bench"
	"macaron/internal/harness"
)

// Bench gives what a measurement runs on: this machine's model, sandbox and log, under the
// measurement's contract for the adapter that acts here. The tools come with each task.
func (a *App) Bench(ctx context.Context) (harness.Deps, bench.Policy, error) {
	ctx = auth.With(ctx, auth.Principal{Owner: auth.Local})
	now, err := a.catalogue.Current(ctx, auth.Local, "")
	if err != nil {
		return harness.Deps{}, bench.Policy{}, err
	}
	p, err := bench.NewPolicy(now.Contract, now.Adapters)
	d := a.runs.Deps
	d.Contracts = p
	return d, p, err
}
