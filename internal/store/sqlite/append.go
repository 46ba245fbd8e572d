package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// Append commits a batch: its records, what follows from them, and its index
// entries, or nothing.
func (s *Store) Append(ctx context.Context, b record.Batch) error {
	var kind record.Kind
	rows := make([]row, len(b.Records))
	for i, r := range b.Records {
		var err error
		if rows[i], err = encode(r); err != nil {
			return err
		}
		kind = r.Body.Kind()
	}
	return s.do(ctx, kind, func(ctx context.Context, c *sql.Conn) error { return s.apply(ctx, c, b, rows) })
}

func (s *Store) apply(ctx context.Context, c *sql.Conn, b record.Batch, rows []row) error {
	for _, e := range b.Expect {
		if err := expect(ctx, c, e); err != nil {
			return err
		}
	}
	for i, r := range b.Records {
		if err := s.fault(BeforeRecord, r.Body.Kind()); err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, insertRecord, rows[i]...); err != nil {
			return err
		}
		if err := derive(ctx, c, r); err != nil {
			return err
		}
	}
	return index(ctx, c, b)
}

func expect(ctx context.Context, c *sql.Conn, e record.Expect) error {
	var status record.Status
	err := c.QueryRowContext(ctx, "SELECT status FROM turns WHERE owner = ? AND id = ?", e.Owner, e.Turn).Scan(&status)
	if errors.Is(err, sql.ErrNoRows) || err == nil && status != e.Status {
		return record.ErrConflict
	}
	return err
}

// row is a record as the arguments of insertRecord.
type row = []any

const insertRecord = `INSERT INTO records
	(id, owner, session, run, turn, parent_turn, request, time, contract, revision, purpose, consent, kind, body, blob)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

func encode(r record.Record) (row, error) {
	body, err := record.EncodeBody(r.Body)
	if err != nil {
		return nil, err
	}
	var blob any // NULL
	if r.Blob != nil {
		if blob, err = r.Blob.Encode(); err != nil {
			return nil, err
		}
	}
	return row{
		r.ID, r.Owner, r.Session, r.Run, r.Turn, r.ParentTurn, r.Request, r.Time.UnixNano(),
		string(r.Contract), string(r.Revision), string(r.Purpose), string(r.Consent), string(r.Body.Kind()), string(body), blob,
	}, nil
}

// derive keeps the sessions and turns tables in step with a record.
func derive(ctx context.Context, c *sql.Conn, r record.Record) error {
	now := r.Time.UnixNano()
	switch b := r.Body.(type) {
	case record.SessionOpened:
		return run(ctx, c, `INSERT INTO sessions (owner, id, scope, root, forked_from, title, opened, updated, turns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)`,
			r.Owner, r.Session, b.Scope, b.Root, b.ForkedFrom, b.Title, now, now)
	case record.TurnOpened:
		if err := one(ctx, c, `INSERT INTO turns (owner, id, session, scope, parent, status, awaited)
			SELECT owner, ?, id, scope, ?, 'open', 0 FROM sessions WHERE owner = ? AND id = ?`, r.Turn, r.ParentTurn, r.Owner, r.Session); err != nil {
			return err
		}
		return one(ctx, c, `UPDATE sessions SET turns = turns + 1, updated = max(updated, ?) WHERE owner = ? AND id = ?`, now, r.Owner, r.Session)
	case record.ToolResults:
		return one(ctx, c, `UPDATE turns SET status = 'open' WHERE owner = ? AND id = ?`, r.Owner, r.Turn)
	case record.TurnClosed:
		if err := closeTurn(ctx, c, r, b.Status); err != nil {
			return err
		}
		return one(ctx, c, `UPDATE sessions SET updated = max(updated, ?) WHERE owner = ? AND id = ?`, now, r.Owner, r.Session)
	}
	return nil
}

// closeTurn sets a turn's status; one that is interrupted after tool calls that
// the client has seen waits for their results again.
func closeTurn(ctx context.Context, c *sql.Conn, r record.Record, to record.Status) error {
	return one(ctx, c, `UPDATE turns SET
		awaited = CASE WHEN ?1 = 'awaiting_tools' THEN 1 ELSE awaited END,
		status  = CASE WHEN ?1 = 'interrupted' AND awaited = 1 THEN 'awaiting_tools' ELSE ?1 END
		WHERE owner = ?2 AND id = ?3`, string(to), r.Owner, r.Turn)
}

func index(ctx context.Context, c *sql.Conn, b record.Batch) error {
	for _, e := range b.Chains {
		if err := run(ctx, c, `INSERT OR REPLACE INTO chains (owner, scope, hash, turn, session, messages, ending) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			e.Owner, e.Scope, e.Hash[:], e.Turn, e.Session, e.Messages, e.End); err != nil {
			return err
		}
	}
	for _, e := range b.Calls {
		if err := run(ctx, c, `INSERT OR REPLACE INTO calls (owner, scope, id, turn, session, messages) VALUES (?, ?, ?, ?, ?, ?)`,
			e.Owner, e.Scope, e.ID, e.Turn, e.Session, e.Messages); err != nil {
			return err
		}
	}
	for _, q := range b.Queue {
		if err := run(ctx, c, `INSERT INTO summaries (owner, turn, session, attempts, due) VALUES (?, ?, ?, 0, 0) ON CONFLICT DO NOTHING`,
			q.Owner, q.Turn, q.Session); err != nil {
			return err
		}
	}
	for _, d := range b.Done {
		if err := run(ctx, c, `DELETE FROM summaries WHERE owner = ? AND turn = ?`, d.Owner, d.Turn); err != nil {
			return err
		}
	}
	return nil
}

func run(ctx context.Context, c *sql.Conn, query string, args ...any) error {
	_, err := c.ExecContext(ctx, query, args...)
	return err
}

// one is run for a statement that must meet exactly one row.
func one(ctx context.Context, c *sql.Conn, query string, args ...any) error {
	result, err := c.ExecContext(ctx, query, args...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errs.Wrap(errs.Internal, fmt.Errorf("%d rows, not one: %w", n, errors.Join(err, errNoTarget)), "a record belongs to nothing in the log", "")
	}
	return nil
}

var errNoTarget = errors.New("no such session or turn for this owner")
