package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"
)

// AskCancel tells every process of this database that the answer of an owner's turn is not
// wanted any more. Nobody may be listening at the moment: whoever asks does so again until
// the turn has ended.
func (s *Store) AskCancel(ctx context.Context, owner, turn string) error {
	payload, err := json.Marshal([2]string{owner, turn})
	if err != nil {
		return err
	}
	_, err = s.pool.Exec(ctx, `SELECT pg_notify('macaron_cancel', $1)`, string(payload))
	return s.coded(err)
}

// Cancels calls stop for the turns that AskCancel names, in whichever process, until ctx
// ends. It has a connection of its own, beside the pool's.
func (s *Store) Cancels(ctx context.Context, stop func(owner, turn string)) {
	for ctx.Err() == nil {
		_ = s.listen(ctx, stop) // it is begun anew; what writes tells of a database that is away
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (s *Store) listen(ctx context.Context, stop func(owner, turn string)) error {
	c, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(context.Background()) }() // what it held is nothing
	if _, err := c.Exec(ctx, `LISTEN macaron_cancel`); err != nil {
		return err
	}
	for {
		n, err := c.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		var named [2]string
		if json.Unmarshal([]byte(n.Payload), &named) == nil { // else another program's
			stop(named[0], named[1])
		}
	}
}
