package logsql

import (
	"context"
	"strings"
	"time"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// atLength holds a batch to the number of records that a run has.
func atLength(ctx context.Context, db Writer, e record.Length) error {
	found, err := list(ctx, db, func(r Row) (n int, err error) { return n, r.Scan(&n) },
		`SELECT records FROM runs WHERE owner = $1 AND id = $2`, e.Owner, e.Run)
	if err == nil && (len(found) == 0 || found[0] != e.Records) {
		return record.ErrConflict
	}
	return err
}

// deriveRun keeps the tables of runs in step with a record of one. A record that names a
// run which the log does not know is one of a conversation, and nothing follows.
func deriveRun(ctx context.Context, db Writer, r record.Record) error {
	now := r.Time.UnixNano()
	status := "status"
	switch b := r.Body.(type) {
	case record.RunOpened:
		if err := run(ctx, db, `INSERT INTO runs (owner, id, session, status, title, mode, suite, purpose, records, opened, updated)
			VALUES ($1, $2, $3, 'running', $4, $5, $6, $7, 1, $8, $9)`,
			r.Owner, r.Run, r.Session, beginning(b.Task.Instruction), b.Mode, b.Task.Suite, string(r.Purpose), now, now); err != nil {
			return err
		}
		return one(ctx, db, `UPDATE sessions SET run = $1 WHERE owner = $2 AND id = $3`, r.Run, r.Owner, r.Session)
	case record.ToolSaved:
		return shelve(ctx, db, r, b)
	case record.ToolJudged, record.ToolUsed, record.ToolDemoted:
		return moveShelf(ctx, db, r)
	case record.RunNote:
		if b.Note == record.NoteResumed {
			status = "'running'"
		}
		if err := remember(ctx, db, r, b); err != nil {
			return err
		}
	case record.RunClosed:
		return grow(ctx, db, r, "$4", string(b.Status))
	}
	return grow(ctx, db, r, status)
}

// grow counts a record of a run and moves the run and its session on.
func grow(ctx context.Context, db Writer, r record.Record, status string, more ...any) error {
	now := r.Time.UnixNano()
	n, err := db.Exec(ctx, `UPDATE runs SET records = records + 1, `+touch+`, status = `+status+` WHERE owner = $2 AND id = $3`, append([]any{now, r.Owner, r.Run}, more...)...)
	if err != nil || n == 0 {
		return err
	}
	return one(ctx, db, `UPDATE sessions SET `+touch+` WHERE owner = $2 AND id = $3`, now, r.Owner, r.Session)
}

// remember keeps what a run adds to the owner's memory, or forgets it.
func remember(ctx context.Context, db Writer, r record.Record, b record.RunNote) error {
	switch b.Note {
	case record.NoteMemoryAdded:
		return run(ctx, db, `INSERT INTO memory (owner, scope, id, text, session, time) VALUES ($1, $2, $3, $4, $5, $6)`,
			r.Owner, b.Name, b.Item, b.Text, r.Session, r.Time.UnixNano())
	case record.NoteMemoryForgotten:
		return run(ctx, db, `DELETE FROM memory WHERE owner = $1 AND scope = $2 AND id = $3`, r.Owner, b.Name, b.Item)
	}
	return nil
}

// beginning is the first words of a task, on one line.
func beginning(text string) string {
	words := strings.Join(strings.Fields(text), " ")
	if runes := []rune(words); len(runes) > 80 {
		return string(runes[:80]) + "..."
	}
	return words
}

const runColumns = `SELECT owner, id, session, status, title, mode, suite, purpose, records, opened, updated FROM runs `

func scanRun(r Row) (e record.RunState, err error) {
	var opened, updated int64
	err = r.Scan(&e.Owner, &e.Run, &e.Session, &e.Status, &e.Title, &e.Mode, &e.Suite, &e.Purpose, &e.Records, &opened, &updated)
	e.Opened, e.Updated = time.Unix(0, opened).UTC(), time.Unix(0, updated).UTC()
	return e, err
}

// Run tells how a run stands.
func (l Log) Run(ctx context.Context, owner, id string) (record.RunState, error) {
	found, err := list(ctx, l, scanRun, runColumns+`WHERE owner = $1 AND id = $2`, owner, id)
	if err == nil && len(found) == 0 {
		err = errs.New(errs.NotFound, "there is no such run", "`macaron run list` shows yours")
	}
	if err != nil {
		return record.RunState{}, err
	}
	return found[0], nil
}

// Runs lists an owner's runs, the newest first, those opened before the given one (empty:
// all), at most limit. Identifiers sort by the time they were made.
func (l Log) Runs(ctx context.Context, owner, before string, limit int) ([]record.RunState, error) {
	return list(ctx, l, scanRun, runColumns+`WHERE owner = $1 AND ($2 = '' OR id < $2) ORDER BY id DESC LIMIT $3`, owner, before, limit)
}

// RunsWhere lists runs of all owners by a condition on the table runs.
func (l Log) RunsWhere(ctx context.Context, limit int, condition string, args ...any) ([]record.RunState, error) {
	return list(ctx, l, scanRun, runColumns+`WHERE `+condition+` ORDER BY owner, id LIMIT $1`, append([]any{limit}, args...)...)
}

// RunsStopped lists the runs of all owners that a stop has cut short, at most limit.
func (l Log) RunsStopped(ctx context.Context, limit int) ([]record.RunState, error) {
	return l.RunsWhere(ctx, limit, `status = 'stopped'`)
}

// Memory lists what an owner's runs have kept in a scope, the oldest first, at most limit.
func (l Log) Memory(ctx context.Context, owner, scope string, limit int) ([]record.Memory, error) {
	return list(ctx, l, func(r Row) (m record.Memory, err error) {
		var nanos int64
		err = r.Scan(&m.Owner, &m.Scope, &m.ID, &m.Text, &m.Session, &nanos)
		m.Time = time.Unix(0, nanos).UTC()
		return m, err
	}, `SELECT owner, scope, id, text, session, time FROM memory WHERE owner = $1 AND scope = $2 ORDER BY id LIMIT $3`, owner, scope, limit)
}
