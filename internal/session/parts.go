package session

import (
	"context"

	"macaron/internal/record"
)

// RecordJoined appends the answer that a turn's parts add up to. Close delivers it. It is
// written even when ctx has ended.
func (l *Log) RecordJoined(ctx context.Context, t *Turn, j record.Joined) error {
	return l.advance(ctx, t, record.Batch{}, l.record(t, j))
}

// RecordCompacted appends that an adapter's views are shortened from this turn on.
func (l *Log) RecordCompacted(ctx context.Context, t *Turn, c record.Compacted) error {
	return l.advance(ctx, t, record.Batch{}, l.record(t, c))
}
