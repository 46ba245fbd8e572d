package sqlite

import (
	"context"

	"macaron/internal/record"
	"macaron/internal/store/logsql"
)

// Settle changes what an owner's account has used, as one step, and gives what it is then.
// Change may be called more than once, each time with what is stored.
func (s *Store) Settle(ctx context.Context, owner, account string, change func(*record.Balance)) (b record.Balance, err error) {
	err = s.do(ctx, "", func(ctx context.Context, db logsql.Writer) (err error) {
		b, err = logsql.Settle(ctx, db, owner, account, change)
		return err
	})
	return b, err
}
