package postgres

import (
	"context"

	"macaron/internal/mint/ledger"
	"macaron/internal/store/logsql"
)

// Mint is what the training service keeps in this store.
func (s *Store) Mint() ledger.Store {
	return logsql.Mint{Reader: s.Reader, Clock: `CAST(extract(epoch FROM clock_timestamp()) * 1000000000 AS BIGINT)`, Transact: func(ctx context.Context, apply func(context.Context, logsql.Writer) error) error {
		return s.transact(ctx, nil, func(ctx context.Context, db writer) error { return apply(ctx, db) })
	}}
}
