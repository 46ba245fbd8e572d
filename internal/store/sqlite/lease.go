package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"macaron/internal/record"
)

// Lease takes up to limit queued summaries that nobody holds at now, the longest
// waiting first, until the given time.
func (s *Store) Lease(ctx context.Context, now, until time.Time, limit int) (tasks []record.Task, err error) {
	err = s.do(ctx, "", func(ctx context.Context, c *sql.Conn) error {
		tasks = nil // a second try starts over
		result, err := c.QueryContext(ctx, `UPDATE summaries SET attempts = attempts + 1, due = ?
			WHERE (owner, turn) IN (SELECT owner, turn FROM summaries WHERE due <= ? ORDER BY due LIMIT ?)
			RETURNING owner, session, turn, attempts`, until.UnixNano(), now.UnixNano(), limit)
		if err != nil {
			return err
		}
		for result.Next() {
			t := record.Task{Until: until.UTC()}
			if err := result.Scan(&t.Owner, &t.Session, &t.Turn, &t.Attempt); err != nil {
				return errors.Join(err, result.Close())
			}
			tasks = append(tasks, t)
		}
		return errors.Join(result.Err(), result.Close())
	})
	if err != nil {
		return nil, err
	}
	return tasks, nil
}

// Release gives a lease back, to be taken again at the given time.
func (s *Store) Release(ctx context.Context, owner, turn string, again time.Time) error {
	return s.do(ctx, "", func(ctx context.Context, c *sql.Conn) error {
		_, err := c.ExecContext(ctx, `UPDATE summaries SET due = ? WHERE owner = ? AND turn = ?`, again.UnixNano(), owner, turn)
		return err
	})
}

// ReleaseAll ends every lease and wait: for the start of the only process.
func (s *Store) ReleaseAll(ctx context.Context) error {
	return s.do(ctx, "", func(ctx context.Context, c *sql.Conn) error {
		_, err := c.ExecContext(ctx, `UPDATE summaries SET due = 0 WHERE due <> 0`)
		return err
	})
}
