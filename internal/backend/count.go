package backend

import (
	"context"

	"macaron/internal/errs"
)

// Counter is a Generator that can tell how many tokens a request's prompt has.
type Counter interface {
	Count(ctx context.Context, r Request) (int, error)
}

// Count asks g, or refuses for one that cannot tell.
func Count(ctx context.Context, g Generator, r Request) (int, error) {
	if c, can := g.(Counter); can {
		return c.Count(ctx, r)
	}
	return 0, errs.New(errs.Unsupported, "the engine cannot count the tokens of a prompt", "use the built-in engine, or one with POST /tokenize")
}
