// Package postgres keeps the record log in a Postgres database that several
// processes share: the same tables and statements as the SQLite store, transactions
// that take turns on a session, and a lease for each process, so that what a crashed
// one left open is taken over by the others. It implements session.Store;
// docs/formats/log.md has the tables.
package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"macaron/internal/errs"
	"macaron/internal/store/logsql"
)

// Options sets up a Store.
type Options struct {
	URL string // postgres://user:password@host/database
	// Lease is how long the other processes wait for a sign of life before they take
	// over what this one has open; 0 means 30 s.
	Lease time.Duration
}

// Store is the open log. Safe for concurrent use.
type Store struct {
	logsql.Log // what reads

	pool     *pgxpool.Pool
	name     string // of the database, for messages: without credentials
	instance string // this process
	lease    time.Duration

	stop   context.CancelFunc
	beats  sync.WaitGroup
	mu     sync.RWMutex
	closed bool
}

// Open connects, brings the schema up to date and enters this process among those
// that serve the log.
func Open(ctx context.Context, o Options) (*Store, error) {
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, errNoURL(err)
	}
	s := &Store{name: name(config), lease: o.Lease}
	if s.lease == 0 {
		s.lease = 30 * time.Second
	}
	s.Log = logsql.Log{Reader: reader{s}}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, s.coded(err)
	}
	if err := s.enter(ctx); err != nil {
		s.pool.Close()
		return nil, s.coded(err)
	}
	return s, nil
}

// enter migrates, takes a lease of life and begins to renew it.
func (s *Store) enter(ctx context.Context) error {
	if err := migrate(ctx, s.pool); err != nil {
		return err
	}
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return err
	}
	s.instance = hex.EncodeToString(id[:])
	if err := s.beat(ctx); err != nil {
		return err
	}
	alive, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.beats.Go(func() { s.live(alive) })
	return nil
}

// live renews the lease three times within its length. A beat that fails is tried
// again at the next one: whoever cannot reach the database cannot write either.
func (s *Store) live(ctx context.Context) {
	tick := time.NewTicker(s.lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = s.beat(ctx)
		}
	}
}

// beat renews the lease by the database's clock, and forgets processes that ended
// long ago and hold nothing.
func (s *Store) beat(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, `INSERT INTO instances (id, until) VALUES ($1, now() + $2::interval)
		ON CONFLICT (id) DO UPDATE SET until = excluded.until`, s.instance, s.lease); err != nil {
		return err
	}
	_, err := s.pool.Exec(ctx, `DELETE FROM instances WHERE until < now() - interval '1 day'`)
	return err
}

// Close waits for the writes that were accepted, gives the lease back and closes the
// connections. Later calls fail; closing twice is fine.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.stop()
	s.beats.Wait()
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	_, err := s.pool.Exec(ctx, `DELETE FROM instances WHERE id = $1`, s.instance)
	s.pool.Close()
	return s.coded(err)
}

// oldest is the first major version that the migrations and queries are for.
const oldest = 13

// Server is a database that can be used.
type Server struct {
	Version string
	Name    string        // of the database, and its host
	Ahead   time.Duration // of its clock before this machine's
}

// Check finds out whether the database can be used, changing nothing.
func Check(ctx context.Context, address string) (Server, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return Server{}, errNoURL(err)
	}
	s := &Store{name: name(config)}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return Server{}, s.coded(err)
	}
	defer s.pool.Close()
	found, number, may, clock := Server{Name: s.name}, 0, false, time.Time{}
	err = s.pool.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('server_version_num')::int, has_schema_privilege(current_schema(), 'CREATE'), clock_timestamp()`).
		Scan(&found.Version, &number, &may, &clock)
	if err != nil {
		return Server{}, s.coded(err)
	}
	found.Ahead = time.Until(clock)
	switch {
	case number/10000 < oldest:
		return found, errs.New(errs.Unsupported, fmt.Sprintf("%s is Postgres %s", s.name, found.Version), fmt.Sprintf("use Postgres %d or later", oldest))
	case !may:
		return found, errs.New(errs.StorageFailed, "the user may not create tables in "+s.name, "make the user the owner of the database")
	}
	return found, nil
}

func name(c *pgxpool.Config) string { return c.ConnConfig.Database + " on " + c.ConnConfig.Host }

// errNoURL says what is expected; pgx keeps the password out of its error.
func errNoURL(err error) error {
	return errs.Wrap(errs.InvalidRequest, err, "the store is not a Postgres URL", "use one such as postgres://macaron@127.0.0.1:5432/macaron")
}
