package sqlite

import (
	"context"

	"macaron/internal/mint/ledger"
	"macaron/internal/store/logsql"
)

// Mint is what the training service keeps in this store.
func (s *Store) Mint() ledger.Store {
	return logsql.Mint{Reader: s.Reader, Transact: func(ctx context.Context, apply func(context.Context, logsql.Writer) error) error {
		return s.do(ctx, "", apply)
	}}
}
