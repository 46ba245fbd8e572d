package fleet

import (
	"context"

	"macaron/internal/backend"
)

var _ backend.Counter = (*Fleet)(nil)

// Count implements backend.Counter: the first engine that has the adapter and can count.
func (f *Fleet) Count(ctx context.Context, r backend.Request) (int, error) {
	list, err := f.order(r)
	if err != nil {
		return 0, err
	}
	for _, m := range list {
		var n int
		if n, err = backend.Count(ctx, m.Gen, r); err == nil || ctx.Err() != nil {
			return n, err
		}
	}
	return 0, err
}
