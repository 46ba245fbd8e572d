// Package jobs keeps the queue of jobs in a database, with River: in Postgres, whose workers may
// be on several machines, or in a SQLite file for those of one. River hands out jobs and tries
// again what failed. What it has no words for is in tables of ours: a lease for each job that is
// worked on, so that no two workers have it however long it takes, and the job of a worker that
// died is taken over when its lease is over; progress; groups that are paused.
package jobs

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"

	"macaron/internal/errs"
	"macaron/internal/store/sqlite"
)

// Options sets up a Queue.
type Options struct {
	URL   string        // of Postgres; "": Path
	Path  string        // of a SQLite file
	Lease time.Duration // how long a worker that gives no sign of life keeps its jobs; 0: 30 s
	// Alone says that no other process works on this queue, which whoever holds the home's lock
	// knows: leases of earlier processes are over at once.
	Alone bool
	Log   *slog.Logger // nil: nothing is told
}

// Queue is an open queue. Safe for concurrent use.
type Queue struct {
	o     Options
	db    *sql.DB // the tables of ours
	now   string  // SQL for the database's own time, in milliseconds
	river driver
	put   client // inserts and looks; works on nothing
	close []func() error
}

// client is what both of River's clients do alike.
type client interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
	Insert(ctx context.Context, args river.JobArgs, opts *river.InsertOpts) (*rivertype.JobInsertResult, error)
	JobGet(ctx context.Context, id int64) (*rivertype.JobRow, error)
	JobRetry(ctx context.Context, id int64) (*rivertype.JobRow, error)
	JobList(ctx context.Context, p *river.JobListParams) (*river.JobListResult, error)
}

// driver is one of River's, whatever its transactions are.
type driver struct {
	client  func(c *river.Config) (client, error)
	migrate func(ctx context.Context) error
	exec    riverdriver.Executor
}

// Open opens the queue and brings its schema up to date.
func Open(ctx context.Context, o Options) (*Queue, error) {
	if o.Lease == 0 {
		o.Lease = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	q := &Queue{o: o}
	open := q.openSQLite
	if o.URL != "" {
		open = q.openPostgres
	}
	err := open(ctx)
	if err == nil {
		q.put, err = q.river.client(q.config(nil))
	}
	if err != nil {
		return nil, failed(first(err, q.Close()))
	}
	return q, nil
}

func (q *Queue) openPostgres(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, q.o.URL)
	if err != nil {
		return errs.Wrap(errs.InvalidRequest, err, "the store is not a Postgres URL", "use one such as postgres://macaron@127.0.0.1:5432/macaron")
	}
	q.db, q.now = stdlib.OpenDBFromPool(pool), `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`
	q.close = append(q.close, func() error { pool.Close(); return nil }, q.db.Close)
	q.river = riverOf(riverpgxv5.New(pool))
	return q.alone(ctx, q.migrate)
}

func (q *Queue) openSQLite(ctx context.Context) (err error) {
	if q.db, err = sqlite.Beside(q.o.Path); err != nil {
		return err
	}
	q.close = append(q.close, q.db.Close)
	q.now = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`
	q.river = riverOf(riversqlite.New(q.db))
	return q.migrate(ctx)
}

// Close gives the connections back. Workers have to be ended before.
func (q *Queue) Close() (err error) {
	for i := len(q.close) - 1; i >= 0; i-- {
		err = first(err, q.close[i]())
	}
	q.close = nil
	return err
}

func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
