package sqlite

import (
	"context"

	"macaron/internal/mindforge/ledger"
	"macaron/internal/store/logsql"
)

// WriteLedger commits a change of an owner's ledger whole or not at all.
func (s *Store) WriteLedger(ctx context.Context, owner string, c ledger.Change) (all []ledger.Entry, err error) {
	err = s.do(ctx, "", func(ctx context.Context, db logsql.Writer) (err error) {
		all, err = logsql.WriteLedger(ctx, db, owner, c)
		return err
	})
	return all, err
}
