// Package sqlite keeps the record log in one SQLite file: append-only records and
// the indexes derived from them, written by one goroutine that groups commits and
// read by a small pool. It implements session.Store; docs/formats/log.md has the format.
package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	_ "modernc.org/sqlite" // the driver

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/store/logsql"
)

// Durability says what a commit survives.
type Durability string

// The durabilities.
const (
	Full   Durability = "full"   // power loss: every commit is synced to disk
	Normal Durability = "normal" // a crash of the process, not power loss
)

// Stage is a moment of a write where a Fault may act.
type Stage string

// The stages of a write.
const (
	BeforeRecord Stage = "record"    // before a record is inserted
	BeforeCommit Stage = "commit"    // all is inserted, nothing is committed
	AfterCommit  Stage = "committed" // it is durable, the caller does not know yet
)

// Options sets up a Store.
type Options struct {
	Path       string     // of the database file; its directory exists
	Durability Durability // "" means Full
	MaxBytes   int64      // the file grows no larger; 0 means no bound
	// Fault, if set, is called at every stage with the kind of the record (of the
	// last one, for commits); an error fails that write. For fault injection.
	Fault func(Stage, record.Kind) error
}

// Store is the open log. Safe for concurrent use.
type Store struct {
	logsql.Log // what reads

	fault  func(Stage, record.Kind) error
	writer *sql.Conn // used by the write goroutine only
	pen    *pen      // on it
	write  *sql.DB
	read   *sql.DB
	pool   pool // on it
	path   string
	recent *recent
	tasks  tasks

	queue  chan *job
	mu     sync.RWMutex // closed against a send on queue
	closed bool
	done   chan struct{}

	uncopied atomic.Int64  // writes and commits since the last checkpoint, about
	copied   chan struct{} // closed when no checkpoint comes any more
}

const readers = 4

// Open opens or creates the log and brings its schema up to date. One process at
// a time may have it open for writing (package homelock sees to that).
func Open(ctx context.Context, o Options) (*Store, error) {
	sync, ok := map[Durability]string{"": "FULL", Full: "FULL", Normal: "NORMAL"}[o.Durability]
	if !ok {
		return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("durability is %q", o.Durability), "use full or normal").In("durability")
	}
	s := &Store{fault: o.Fault, path: o.Path, recent: newRecent(), queue: make(chan *job, 256), done: make(chan struct{}), copied: make(chan struct{})}
	s.Log = logsql.Log{Reader: &s.pool}
	if s.fault == nil {
		s.fault = func(Stage, record.Kind) error { return nil }
	}
	if err := s.open(ctx, sync, o.MaxBytes); err != nil {
		s.closeFiles()
		return nil, err
	}
	go s.run()
	go s.checkpoints()
	return s, nil
}

func (s *Store) open(ctx context.Context, sync string, maxBytes int64) (err error) {
	if err := private(s.path); err != nil {
		return disk.Error(err, "the log "+s.path+" cannot be opened")
	}
	if s.write, err = sql.Open("sqlite", dsn(s.path, "auto_vacuum(2)", "journal_mode(WAL)", "synchronous("+sync+")", "secure_delete(1)", autocheckpoint)); err != nil {
		return s.coded(err)
	}
	s.write.SetMaxOpenConns(1)
	if err := migrate(ctx, s.write); err != nil {
		return s.coded(err)
	}
	if s.writer, err = s.write.Conn(ctx); err != nil {
		return s.coded(err)
	}
	if err := s.writer.Raw(func(conn any) (err error) { s.pen, err = newPen(conn); return err }); err != nil {
		return s.coded(err)
	}
	if maxBytes > 0 {
		if err := s.bound(ctx, maxBytes); err != nil {
			return s.coded(err)
		}
	}
	if s.read, err = sql.Open("sqlite", dsn(s.path, "query_only(1)")); err != nil {
		return s.coded(err)
	}
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	s.pool = pool{db: s.read, coded: s.coded, prepared: map[string]*sql.Stmt{}}
	return s.tasks.load(ctx, &s.pool)
}

// private creates the file, if there is none, for this user alone; SQLite gives its
// other files the same rights.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// bound limits the size of the database file, in whole pages.
func (s *Store) bound(ctx context.Context, maxBytes int64) error {
	var page int64
	if err := s.writer.QueryRowContext(ctx, "PRAGMA page_size").Scan(&page); err != nil {
		return err
	}
	_, err := s.writer.ExecContext(ctx, "PRAGMA max_page_count="+strconv.FormatInt(max(1, maxBytes/page), 10))
	return err
}

// dsn names a file with settings that every connection gets.
func dsn(path string, pragmas ...string) string {
	q := url.Values{"_pragma": append(pragmas, "busy_timeout(5000)", "foreign_keys(1)", "cell_size_check(1)", "journal_size_limit(67108864)")}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: q.Encode()}).String()
}

// Close waits for the writes that were accepted and closes the files. Later calls
// fail; closing twice is fine.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.queue)
	s.mu.Unlock()
	<-s.done
	<-s.copied
	return s.coded(s.closeFiles())
}

func (s *Store) closeFiles() error {
	first := s.pool.close()
	if s.read != nil {
		if err := s.read.Close(); err != nil && first == nil {
			first = err
		}
	}
	if s.pen != nil {
		if err := s.pen.close(); err != nil && first == nil {
			first = err
		}
	}
	if s.writer != nil {
		if err := s.writer.Close(); err != nil && first == nil {
			first = err
		}
	}
	if s.write != nil {
		if err := s.write.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
