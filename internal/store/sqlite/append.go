package sqlite

import (
	"context"

	"macaron/internal/record"
	"macaron/internal/store/logsql"
)

// Append commits a batch: its records, what follows from them, and its index
// entries, or nothing.
func (s *Store) Append(ctx context.Context, b record.Batch) error {
	ready, err := logsql.Encode(b)
	if err != nil {
		return err
	}
	var kind record.Kind // of the last record, for faults
	for _, r := range b.Records {
		kind = r.Body.Kind()
	}
	before := func(k record.Kind) error { return s.fault(BeforeRecord, k) }
	return s.submit(ctx, &job{
		kind: kind, lazy: b.Lazy, done: make(chan error, 1),
		apply: func(ctx context.Context, db logsql.Writer) error { return logsql.Apply(ctx, db, ready, before) },
		committed: func() {
			s.recent.took(ready.Records)
			s.tasks.took(b.Queue, b.Done)
		},
	})
}
