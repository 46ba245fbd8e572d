package app

import (
	"context"

	"macaron/internal/auth"
	"macaron/internal/harness"
	"macaron/internal/mindforge"
)

// Forge gives what attempts at tasks run on, and the pair in force: this machine's model,
// sandbox, log and tools.
func (a *App) Forge(ctx context.Context) (harness.Deps, mindforge.Pair, error) {
	now, err := a.catalogue.Current(auth.With(ctx, auth.Principal{Owner: auth.Local}), auth.Local, "", "")
	return a.runs.Deps, mindforge.Pair{Contract: now.Contract, Revisions: now.Adapters}, err
}
