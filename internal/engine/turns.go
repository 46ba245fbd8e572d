package engine

import (
	"context"

	"macaron/internal/engine/kernel"
)

// Do runs one piece of other work on the engine's threads, when no request runs or waits,
// and returns when it has run. A request that comes waits for the end of the piece, so pieces
// should be short, 20 ms at most. Callers get their turns in the order in which they ask:
// several trainers that each call Do again and again advance piece by piece alike. An error
// means that the piece did not run: Canceled when ctx ended before its turn, or
// UpstreamUnavailable when the engine closes.
func (e *Engine) Do(ctx context.Context, piece func(*kernel.Pool)) error {
	ran := false
	err := e.Background(ctx, func(p *kernel.Pool) bool {
		piece(p)
		ran = true
		return false
	})
	if ran {
		return nil // whatever became of ctx meanwhile
	}
	return err
}
