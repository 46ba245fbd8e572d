package jobs

import (
	"context"
	"errors"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"macaron/internal/errs"
)

// schema is that of our tables, beside River's.
var schema = []string{
	`CREATE TABLE IF NOT EXISTS jobs_keys (key TEXT PRIMARY KEY, id BIGINT NOT NULL, grp TEXT NOT NULL, place BIGINT NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS jobs_leases (key TEXT PRIMARY KEY, holder TEXT NOT NULL, until BIGINT NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS jobs_progress (key TEXT PRIMARY KEY, done BIGINT NOT NULL, total BIGINT NOT NULL, note TEXT NOT NULL, timed BIGINT NOT NULL, took BIGINT NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS jobs_worked (key TEXT PRIMARY KEY, took BIGINT NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS jobs_groups (name TEXT PRIMARY KEY, state TEXT NOT NULL)`,
}

func (q *Queue) migrate(ctx context.Context) error {
	if err := q.river.migrate(ctx); err != nil {
		return err
	}
	for _, s := range schema {
		if _, err := q.db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// alone does something while no other process does it on this Postgres.
func (q *Queue) alone(ctx context.Context, do func(context.Context) error) error {
	const lock = 0x6d6163 // "mac"; goose's lock of the log is another one
	c, err := q.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, lock); err != nil {
		return err
	}
	err = do(ctx)
	_, unlocked := c.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, lock)
	return first(err, unlocked)
}

func riverOf[T any](d riverdriver.Driver[T]) driver {
	return driver{
		exec:   d.GetExecutor(),
		client: func(c *river.Config) (client, error) { return river.NewClient(d, c) },
		migrate: func(ctx context.Context) error {
			m, err := rivermigrate.New(d, nil)
			if err == nil {
				_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
			}
			return err
		},
	}
}

// failed gives an error of the database its code.
func failed(err error) error {
	var known *errs.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return errs.Wrap(errs.Canceled, err, "the request ended before the queue answered", "")
	case errors.Is(err, rivertype.ErrNotFound):
		return errs.New(errs.NotFound, "there is no such job", "macaron forge status lists them")
	}
	return errs.Wrap(errs.StorageFailed, err, "the queue of jobs failed", "check the database, and the disk of MACARON_HOME")
}
