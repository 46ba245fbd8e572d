package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"macaron/internal/record"
	"macaron/internal/store/logsql"
)

// pool is the readers' connections as logsql uses them.
type pool struct{ *Store }

func (p pool) Query(ctx context.Context, each func(logsql.Row) error, query string, args ...any) error {
	result, err := p.read.QueryContext(ctx, query, args...)
	return p.coded(drain(result, err, each))
}

// drain calls each for every row of a result and closes it.
func drain(result *sql.Rows, err error, each func(logsql.Row) error) error {
	if err != nil {
		return err
	}
	for err == nil && result.Next() {
		err = each(result)
	}
	return errors.Join(err, result.Err(), result.Close())
}

// Open lists the turns of all owners that are open, at most limit: of this process,
// or of one that has ended.
func (s *Store) Open(ctx context.Context, limit int) ([]record.TurnState, error) {
	return s.Turns(ctx, limit, `status = 'open'`)
}

// Lost lists the open turns whose process has ended while this one runs: none, since
// only one process at a time uses the file.
func (s *Store) Lost(context.Context, int) ([]record.TurnState, error) { return nil, nil }

// RunsLeft lists the runs of all owners that are under way, at most limit: of this
// process, or of one that has ended.
func (s *Store) RunsLeft(ctx context.Context, limit int) ([]record.RunState, error) {
	return s.RunsWhere(ctx, limit, `status = 'running'`)
}

// RunHeld tells whether another living process has the run under way: never, since only
// one process at a time uses the file.
func (s *Store) RunHeld(context.Context, string, string) (bool, error) { return false, nil }
