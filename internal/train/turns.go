package train

import (
	"context"

	"macaron/internal/engine/kernel"
)

// Turns runs short pieces of work on the threads of an engine, one at a time, when
// nothing that answers a request wants them. Do returns when the piece has run, or with
// an error when it has not and will not. The pool is the same one every time. An *Engine
// has it.
type Turns interface {
	Do(ctx context.Context, piece func(*kernel.Pool)) error
}

// Alone is turns on a pool that nobody else uses.
type Alone struct{ Pool *kernel.Pool }

// Do runs the piece now, unless ctx has ended.
func (a Alone) Do(ctx context.Context, piece func(*kernel.Pool)) error {
	if err := ctx.Err(); err != nil {
		return canceled(ctx)
	}
	piece(a.Pool)
	return nil
}
