package postgres

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/store/logsql"
)

// Append commits a batch: its records, what follows from them, and its index
// entries, or nothing.
func (s *Store) Append(ctx context.Context, b record.Batch) error {
	ready, err := logsql.Encode(b)
	if err != nil {
		return err
	}
	return s.transact(ctx, sessions(b), func(ctx context.Context, db writer) error {
		if err := logsql.Apply(ctx, db, ready, nil); err != nil {
			return err
		}
		return s.hold(ctx, db, b)
	})
}

// hold notes that this process has open what the batch opened, and keeps the turns before
// it from being deleted until then.
func (s *Store) hold(ctx context.Context, db writer, b record.Batch) error {
	for _, r := range b.Records {
		if _, opened := r.Body.(record.TurnOpened); opened && r.ParentTurn != "" {
			n, err := db.Exec(ctx, `SELECT 1 FROM turns WHERE owner = $1 AND id = $2 FOR KEY SHARE`, r.Owner, r.ParentTurn)
			if err == nil && n != 1 { // it was deleted meanwhile
				err = errs.New(errs.NotFound, "there is no such turn", "send the whole conversation again")
			}
			if err != nil {
				return err
			}
		}
		switch r.Body.(type) {
		case record.TurnOpened, record.ToolResults:
			if _, err := db.Exec(ctx, `UPDATE turns SET instance = $1 WHERE owner = $2 AND id = $3`, s.instance, r.Owner, r.Turn); err != nil {
				return err
			}
		}
		if takesRun(r.Body) {
			if _, err := db.Exec(ctx, `UPDATE runs SET instance = $1 WHERE owner = $2 AND id = $3`, s.instance, r.Owner, r.Run); err != nil {
				return err
			}
		}
	}
	return nil
}

// takesRun tells whether the process that writes a record runs the run from here on.
func takesRun(b record.Body) bool {
	_, opened := b.(record.RunOpened)
	note, noted := b.(record.RunNote)
	return opened || noted && note.Note == record.NoteResumed
}

// sessions lists what a batch writes to, as keys of locks in ascending order. A batch
// that expects something of a turn also writes to the turn's session.
func sessions(b record.Batch) []int64 {
	var keys []int64
	for _, r := range b.Records {
		keys = append(keys, key(r.Owner, r.Session))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// key names a session's lock. Two sessions with one key wait for each other without
// need, and that is all.
func key(owner, session string) int64 {
	sum := sha256.Sum256([]byte("macaron " + owner + "\x00" + session))
	return int64(binary.LittleEndian.Uint64(sum[:]))
}

// tries is how often a transaction that met another one is begun anew.
const tries = 8

// transact runs a write in a transaction that has the sessions to itself: their
// records are numbered in the order in which they become visible, and conditions on
// their turns hold until the commit. Once begun it is carried out whether or not ctx
// ends, so that the answer is never in doubt.
func (s *Store) transact(ctx context.Context, locks []int64, apply func(context.Context, writer) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errs.New(errs.StorageFailed, "the log is closed", "this process is shutting down; try again later")
	}
	if err := ctx.Err(); err != nil {
		return s.coded(err)
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	var err error
	for n := range tries {
		err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			if len(locks) > 0 {
				if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(k) FROM unnest($1::bigint[]) AS k`, locks); err != nil {
					return err
				}
			}
			return apply(ctx, writer{s, tx})
		})
		if !collided(err) {
			break
		}
		time.Sleep(time.Duration(n) * 5 * time.Millisecond)
	}
	return s.coded(err)
}

// patience bounds a write that waits for a database which does not answer.
const patience = time.Minute

// Lease takes up to limit queued summaries that nobody holds at now, the longest
// waiting first, until the given time.
func (s *Store) Lease(ctx context.Context, now, until time.Time, limit int) (tasks []record.Task, err error) {
	err = s.transact(ctx, nil, func(ctx context.Context, db writer) error {
		tasks = nil // a second try starts over
		return db.Query(ctx, func(r logsql.Row) error {
			t := record.Task{Until: until.UTC()}
			err := r.Scan(&t.Owner, &t.Session, &t.Turn, &t.Attempt)
			tasks = append(tasks, t)
			return err
		}, `UPDATE summaries SET attempts = attempts + 1, due = $1, instance = $2
			WHERE (owner, turn) IN (SELECT owner, turn FROM summaries WHERE due <= $3 ORDER BY due, turn LIMIT $4 FOR UPDATE SKIP LOCKED)
			RETURNING owner, session, turn, attempts`, until.UnixNano(), s.instance, now.UnixNano(), limit)
	})
	slices.SortFunc(tasks, func(a, b record.Task) int { return cmp.Compare(a.Turn, b.Turn) })
	return tasks, err
}

// Release gives a lease back, to be taken again at the given time.
func (s *Store) Release(ctx context.Context, owner, turn string, again time.Time) error {
	return s.transact(ctx, nil, func(ctx context.Context, db writer) error {
		_, err := db.Exec(ctx, `UPDATE summaries SET due = $1 WHERE owner = $2 AND turn = $3`, again.UnixNano(), owner, turn)
		return err
	})
}

// ended holds for a row of a process that has ended, with the table's name before it.
const ended = ` NOT EXISTS (SELECT 1 FROM instances i WHERE i.id = instance AND i.until > now()`

// ReleaseAll ends every lease and wait but those of other processes that live.
func (s *Store) ReleaseAll(ctx context.Context) error {
	return s.transact(ctx, nil, func(ctx context.Context, db writer) error {
		_, err := db.Exec(ctx, `UPDATE summaries SET due = 0 WHERE due <> 0 AND`+ended+` AND i.id <> $1)`, s.instance)
		return err
	})
}

// Open lists the turns of all owners that are open, at most limit, but those of other
// processes that live.
func (s *Store) Open(ctx context.Context, limit int) ([]record.TurnState, error) {
	return s.Turns(ctx, limit, `status = 'open' AND`+ended+` AND i.id <> $2)`, s.instance)
}

// Lost lists the open turns whose process has ended, at most limit.
func (s *Store) Lost(ctx context.Context, limit int) ([]record.TurnState, error) {
	return s.Turns(ctx, limit, `status = 'open' AND`+ended+`)`)
}

// RunsLeft lists the runs of all owners that are under way, at most limit, but those of
// other processes that live.
func (s *Store) RunsLeft(ctx context.Context, limit int) ([]record.RunState, error) {
	return s.RunsWhere(ctx, limit, `status = 'running' AND`+ended+` AND i.id <> $2)`, s.instance)
}

// RunsLost lists the runs under way whose process has ended, at most limit.
func (s *Store) RunsLost(ctx context.Context, limit int) ([]record.RunState, error) {
	return s.RunsWhere(ctx, limit, `status = 'running' AND`+ended+`)`)
}

// RunHeld tells whether another living process has the run under way.
func (s *Store) RunHeld(ctx context.Context, owner, run string) (bool, error) {
	held, err := s.RunsWhere(ctx, 1, `status = 'running' AND owner = $2 AND id = $3 AND instance <> $4 AND NOT (`+ended+`))`, owner, run, s.instance)
	return len(held) > 0, err
}
