package app

import (
	"context"

	"macaron/internal/backend"
	"macaron/internal/errs"
)

// embedded opens the engine of this process.
func (a *App) embedded(context.Context) (backend.Generator, error) {
	return nil, errs.New(errs.Unsupported, "there is no embedded engine in this build yet", "use --upstream")
}
