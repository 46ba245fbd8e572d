package postgres

import (
	"context"

	"macaron/internal/mindforge/ledger"
	"macaron/internal/store/logsql"
)

// WriteLedger commits a change of an owner's ledger whole or not at all. All processes write
// to one ledger, one after another.
func (s *Store) WriteLedger(ctx context.Context, owner string, c ledger.Change) (all []ledger.Entry, err error) {
	err = s.transact(ctx, []int64{key(owner, "forge")}, func(ctx context.Context, db writer) (err error) {
		all, err = logsql.WriteLedger(ctx, db, owner, c)
		return err
	})
	return all, err
}
