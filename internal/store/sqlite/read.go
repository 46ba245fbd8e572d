package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"macaron/internal/record"
	"macaron/internal/store/logsql"
)

// pool is the readers' connections as logsql uses them. Statements are kept prepared on
// each connection; those with as many marks as a request has messages are only so many.
type pool struct {
	db    *sql.DB
	coded func(error) error

	mu       sync.RWMutex
	prepared map[string]*sql.Stmt
}

// mostPrepared bounds the statements that are kept.
const mostPrepared = 64

// Query implements logsql.Reader. A query that has begun is not cut short when ctx ends: it
// is over sooner than a watch over it could be set up.
func (p *pool) Query(ctx context.Context, each func(logsql.Row) error, query string, args ...any) error {
	if err := ctx.Err(); err != nil {
		return p.coded(err)
	}
	ctx = context.WithoutCancel(ctx)
	s, err := p.stmt(ctx, query) //nolint:sqlclosecheck // it is kept, and closed with the pool
	if err != nil {
		return p.coded(err)
	}
	var result *sql.Rows
	if s != nil {
		result, err = s.QueryContext(ctx, args...)
	} else {
		result, err = p.db.QueryContext(ctx, query, args...)
	}
	return p.coded(drain(result, err, each))
}

// stmt gives the prepared statement of a query, nil if there is no room for one more.
func (p *pool) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	p.mu.RLock()
	s, full := p.prepared[query], len(p.prepared) >= mostPrepared
	p.mu.RUnlock()
	if s != nil || full {
		return s, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.prepared[query]; s != nil {
		return s, nil
	}
	s, err := p.db.PrepareContext(ctx, query) //nolint:sqlclosecheck // as above
	if err == nil {
		p.prepared[query] = s
	}
	return s, err
}

func (p *pool) close() (first error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.prepared {
		first = errors.Join(first, s.Close())
	}
	clear(p.prepared)
	return first
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

// RunsLost lists the runs whose process has ended while this one runs: none.
func (s *Store) RunsLost(context.Context, int) ([]record.RunState, error) { return nil, nil }

// RunHeld tells whether another living process has the run under way: never, since only
// one process at a time uses the file.
func (s *Store) RunHeld(context.Context, string, string) (bool, error) { return false, nil }

// Turn tells how a turn stands.
func (s *Store) Turn(ctx context.Context, owner, turn string) (record.TurnState, error) {
	if t, known := s.recent.turn(owner, turn); known && ctx.Err() == nil {
		return t, nil
	}
	return s.Log.Turn(ctx, owner, turn)
}

// Children gives the turns whose parent this is, by id.
func (s *Store) Children(ctx context.Context, owner, turn string) ([]record.TurnState, error) {
	if all, known := s.recent.childrenOf(owner, turn); known && ctx.Err() == nil {
		return all, nil
	}
	return s.Log.Children(ctx, owner, turn)
}

// Lineage gives the records of a turn and its ancestors, at most depth turns, by Seq,
// without their token blobs.
func (s *Store) Lineage(ctx context.Context, owner, turn string, depth int) ([]record.Record, error) {
	if all, known := s.recent.lineage(owner, turn, depth); known && ctx.Err() == nil {
		return all, nil
	}
	return s.Log.Lineage(ctx, owner, turn, depth)
}

// After gives the records of an owner's sessions behind the given marks, by Seq, without
// their token blobs, at most limit.
func (s *Store) After(ctx context.Context, owner string, marks []record.Mark, limit int) ([]record.Record, error) {
	if all, known := s.recent.after(owner, marks, limit); known && ctx.Err() == nil {
		return all, nil
	}
	return s.Log.After(ctx, owner, marks, limit)
}
