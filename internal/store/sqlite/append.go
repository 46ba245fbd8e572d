package sqlite

import (
	"context"
	"database/sql"

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
	return s.do(ctx, kind, func(ctx context.Context, c *sql.Conn) error { return logsql.Apply(ctx, conn{c}, ready, before) })
}

// conn is the writer's connection inside its transaction, as logsql uses it.
type conn struct{ *sql.Conn }

func (c conn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := c.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (c conn) Query(ctx context.Context, each func(logsql.Row) error, query string, args ...any) error {
	result, err := c.QueryContext(ctx, query, args...)
	return drain(result, err, each)
}
