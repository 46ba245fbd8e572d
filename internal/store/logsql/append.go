package logsql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// Batch is a record.Batch made ready to be written.
type Batch struct {
	record.Batch
	rows [][]any
}

// Encode turns the records of a batch into rows; it needs no transaction. The records of
// the result have the bodies that the log will give back.
func Encode(b record.Batch) (Batch, error) {
	out := Batch{Batch: b, rows: make([][]any, len(b.Records))}
	out.Records = slices.Clone(b.Records)
	for i := range out.Records {
		err := out.Records[i].Settle()
		if err == nil {
			out.rows[i], err = encode(out.Records[i])
		}
		if err != nil {
			return Batch{}, err
		}
	}
	return out, nil
}

// Apply writes a batch in an open transaction: its conditions, its records, what
// follows from them, and its index entries. Before, if not nil, is called before
// each record; an error of anything means that the transaction must be undone.
func Apply(ctx context.Context, db Writer, b Batch, before func(record.Kind) error) error {
	for _, e := range b.Expect {
		if err := expect(ctx, db, e); err != nil {
			return err
		}
	}
	for _, e := range b.Lengths {
		if err := atLength(ctx, db, e); err != nil {
			return err
		}
	}
	for _, e := range b.Cards {
		if err := atCards(ctx, db, e); err != nil {
			return err
		}
	}
	for _, r := range b.Records {
		if before != nil {
			if err := before(r.Body.Kind()); err != nil {
				return err
			}
		}
	}
	for from := 0; from < len(b.rows); from += rowsAtOnce {
		if err := b.insert(ctx, db, from, min(from+rowsAtOnce, len(b.rows))); err != nil {
			return err
		}
	}
	for i := range b.Records {
		if err := derive(ctx, db, b.Records, i); err != nil {
			return err
		}
	}
	return index(ctx, db, b.Batch)
}

func expect(ctx context.Context, db Writer, e record.Expect) error {
	found, err := list(ctx, db, func(r Row) (s record.Status, err error) { return s, r.Scan(&s) },
		`SELECT status FROM turns WHERE owner = $1 AND id = $2`, e.Owner, e.Turn)
	if err == nil && (len(found) == 0 || found[0] != e.Status) {
		return record.ErrConflict
	}
	return err
}

// atCards holds a batch to the number of records that the cards of a turn have.
func atCards(ctx context.Context, db Writer, e record.Cards) error {
	found, err := list(ctx, db, func(r Row) (n int, err error) { return n, r.Scan(&n) },
		`SELECT count(*) FROM records WHERE owner = $1 AND turn = $2 AND turn <> '' AND kind LIKE 'card.%'`, e.Owner, e.Turn)
	if err == nil && (len(found) == 0 || found[0] != e.Records) {
		return record.ErrConflict
	}
	return err
}

// insert writes the records from one to before another, in order.
func (b Batch) insert(ctx context.Context, db Writer, from, to int) error {
	if err := run(ctx, db, insertRecords[to-from-1], slices.Concat(b.rows[from:to]...)...); err != nil {
		return err
	}
	if n, tells := db.(Numbering); tells {
		for i := from; i < to; i++ {
			b.Records[i].Seq = n.Inserted() - int64(to-1-i)
		}
	}
	return nil
}

// rowsAtOnce is how many records one statement inserts at most. What a statement costs beside
// its rows, the check for deleted sessions and the next number among it, is paid once.
const rowsAtOnce = 8

// insertRecords are the statements for one row and more.
var insertRecords = func() (all [rowsAtOnce]string) {
	const columns = 15
	text := insertRecord
	for n := range all {
		marks := make([]string, columns)
		for i := range marks {
			marks[i] = fmt.Sprintf("$%d", n*columns+i+1)
		}
		text += "(" + strings.Join(marks, ", ") + ")"
		all[n] = text
		text += ", "
	}
	return all
}()

const insertRecord = `INSERT INTO records
	(id, owner, session, run, turn, parent_turn, request, time, contract, revision, purpose, consent, kind, body, blob)
	VALUES `

func encode(r record.Record) ([]any, error) {
	var blob any // NULL
	if r.Blob != nil {
		var err error
		if blob, err = r.Blob.Encode(); err != nil {
			return nil, err
		}
	}
	return []any{
		r.ID, r.Owner, r.Session, r.Run, r.Turn, r.ParentTurn, r.Request, r.Time.UnixNano(),
		string(r.Contract), string(r.Revision), string(r.Purpose), string(r.Consent), string(r.Body.Kind()), string(r.Text), blob,
	}, nil
}

// touch moves a session's last change forward.
const touch = `updated = CASE WHEN updated < $1 THEN $1 ELSE updated END`

// begins reports whether record i of a batch opens a session whose first turn is record i+1:
// the session is written with that turn counted.
func begins(all []record.Record, i int) bool {
	if i < 0 || i+1 >= len(all) || all[i].Owner != all[i+1].Owner || all[i].Session != all[i+1].Session {
		return false
	}
	_, session := all[i].Body.(record.SessionOpened)
	_, turn := all[i+1].Body.(record.TurnOpened)
	return session && turn
}

// closing gives the record that closes the turn which record i of a batch opens, if nothing
// of the batch between them moves the turn: it is written as it ends. Nil if there is none.
func closing(all []record.Record, i int) *record.Record {
	for j := i + 1; j < len(all); j++ {
		if all[j].Turn != all[i].Turn || all[j].Owner != all[i].Owner {
			continue
		}
		switch all[j].Body.Kind() {
		case record.KindToolResults:
			return nil
		case record.KindTurnClosed:
			return &all[j]
		}
	}
	return nil
}

// opening reports whether record i closes a turn that the batch opens and has written so.
func opening(all []record.Record, i int) bool {
	for j := range i {
		if all[j].Body.Kind() == record.KindTurnOpened && closing(all, j) == &all[i] {
			return true
		}
	}
	return false
}

// moved is when the records of a batch from i on last touch the session of a turn that
// record i opens: at its opening, or at the end that comes with it.
func moved(all []record.Record, i int) int64 {
	now := all[i].Time.UnixNano()
	if end := closing(all, i); end != nil {
		now = max(now, end.Time.UnixNano())
	}
	return now
}

// derive keeps the sessions and turns tables in step with record i of a batch.
func derive(ctx context.Context, db Writer, all []record.Record, i int) error {
	r := all[i]
	now := r.Time.UnixNano()
	if r.Run != "" {
		if err := deriveRun(ctx, db, r); err != nil {
			return err
		}
	}
	switch b := r.Body.(type) {
	case record.SessionOpened:
		updated, turns := now, 0
		if begins(all, i) {
			updated, turns = max(now, moved(all, i+1)), 1
		}
		alone := "" // a session that is its own run is no conversation
		if r.Run == r.Session {
			alone = r.Run
		}
		return run(ctx, db, `INSERT INTO sessions (owner, id, scope, root, forked_from, title, opened, updated, turns, run) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			r.Owner, r.Session, b.Scope, b.Root, b.ForkedFrom, b.Title, now, updated, turns, alone)
	case record.TurnOpened:
		status := record.StatusOpen
		if end := closing(all, i); end != nil {
			status = end.Body.(record.TurnClosed).Status
		}
		if err := one(ctx, db, `INSERT INTO turns (owner, id, session, scope, parent, status, awaited)
			SELECT owner, $1, id, scope, $2, $3, $4 FROM sessions WHERE owner = $5 AND id = $6`,
			r.Turn, r.ParentTurn, string(status), status == record.StatusAwaiting, r.Owner, r.Session); err != nil {
			return err
		}
		if err := try(ctx, db, r, b.Pair); err != nil || begins(all, i-1) {
			return err
		}
		return one(ctx, db, `UPDATE sessions SET turns = turns + 1, `+touch+` WHERE owner = $2 AND id = $3`, moved(all, i), r.Owner, r.Session)
	case record.ToolResults:
		return one(ctx, db, `UPDATE turns SET status = 'open' WHERE owner = $1 AND id = $2`, r.Owner, r.Turn)
	case record.TurnClosed:
		if opening(all, i) {
			return nil
		}
		if err := closeTurn(ctx, db, r, b.Status); err != nil {
			return err
		}
		return one(ctx, db, `UPDATE sessions SET `+touch+` WHERE owner = $2 AND id = $3`, now, r.Owner, r.Session)
	}
	return nil
}

// closeTurn sets a turn's status; one that is interrupted after tool calls that
// the client has seen waits for their results again.
func closeTurn(ctx context.Context, db Writer, r record.Record, to record.Status) error {
	return one(ctx, db, `UPDATE turns SET
		awaited = CASE WHEN $1 = 'awaiting_tools' THEN TRUE ELSE awaited END,
		status  = CASE WHEN $1 = 'interrupted' AND awaited THEN 'awaiting_tools' ELSE $1 END
		WHERE owner = $2 AND id = $3`, string(to), r.Owner, r.Turn)
}

func index(ctx context.Context, db Writer, b record.Batch) error {
	for _, e := range b.Chains {
		if err := run(ctx, db, `INSERT INTO chains (owner, scope, hash, turn, session, messages, ending) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (owner, scope, hash, turn) DO UPDATE SET session = excluded.session, messages = excluded.messages, ending = excluded.ending`,
			e.Owner, e.Scope, e.Hash[:], e.Turn, e.Session, e.Messages, e.End); err != nil {
			return err
		}
	}
	for _, e := range b.Calls {
		if err := run(ctx, db, `INSERT INTO calls (owner, scope, id, turn, session, messages) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (owner, scope, id, turn) DO UPDATE SET session = excluded.session, messages = excluded.messages`,
			e.Owner, e.Scope, e.ID, e.Turn, e.Session, e.Messages); err != nil {
			return err
		}
	}
	for _, q := range b.Queue {
		if err := run(ctx, db, `INSERT INTO summaries (owner, turn, session, attempts, due) VALUES ($1, $2, $3, 0, 0) ON CONFLICT DO NOTHING`,
			q.Owner, q.Turn, q.Session); err != nil {
			return err
		}
	}
	for _, d := range b.Done {
		if err := run(ctx, db, `DELETE FROM summaries WHERE owner = $1 AND turn = $2`, d.Owner, d.Turn); err != nil {
			return err
		}
	}
	return nil
}

func run(ctx context.Context, db Writer, query string, args ...any) error {
	_, err := db.Exec(ctx, query, args...)
	return err
}

// one is run for a statement that must meet exactly one row.
func one(ctx context.Context, db Writer, query string, args ...any) error {
	n, err := db.Exec(ctx, query, args...)
	if err != nil {
		return err
	}
	if n != 1 {
		return errs.Wrap(errs.Internal, fmt.Errorf("%d rows, not one: %w", n, errNoTarget), "a record belongs to nothing in the log", "")
	}
	return nil
}

var errNoTarget = errors.New("no such session or turn for this owner")
