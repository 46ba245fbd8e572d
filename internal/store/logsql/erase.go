package logsql

import (
	"context"
	"fmt"
	"slices"
	"time"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// Owners lists the owners that have sessions, in order.
func (l Log) Owners(ctx context.Context) ([]string, error) {
	return list(ctx, l, scanText, `SELECT DISTINCT owner FROM sessions ORDER BY owner`)
}

func scanText(r Row) (s string, err error) { return s, r.Scan(&s) }

// Stale lists an owner's sessions that have not changed since the given time (zero: all)
// by id, those behind the given one, at most limit.
func (l Log) Stale(ctx context.Context, owner string, before time.Time, after string, limit int) ([]string, error) {
	until := int64(1<<63 - 1)
	if !before.IsZero() {
		until = before.UnixNano()
	}
	return list(ctx, l, scanText, `SELECT id FROM sessions WHERE owner = $1 AND updated < $2 AND id > $3 ORDER BY id LIMIT $4`, owner, until, after, limit)
}

// Erasures lists what was deleted of an owner, newest first, at most limit.
func (l Log) Erasures(ctx context.Context, owner string, limit int) ([]record.Erased, error) {
	return list(ctx, l, func(r Row) (e record.Erased, err error) {
		var nanos int64
		err = r.Scan(&e.Owner, &e.Session, &e.Why, &nanos, &e.Records, &e.Turns, &e.Bytes)
		e.Time = time.Unix(0, nanos).UTC()
		return e, err
	}, `SELECT owner, session, why, time, records, turns, bytes FROM deletions WHERE owner = $1 ORDER BY id DESC LIMIT $2`, owner, limit)
}

// Family lists a session and those that build on its turns, by id: without it they would
// have no beginning, and much of what they say is its.
func Family(ctx context.Context, db Reader, owner, session string) ([]string, error) {
	return list(ctx, db, scanText, `WITH RECURSIVE family (session) AS (
			SELECT id FROM sessions WHERE owner = $1 AND id = $2
			UNION
			SELECT c.session FROM family f JOIN turns t ON t.owner = $1 AND t.session = f.session
				JOIN turns c ON c.owner = $1 AND c.parent = t.id AND c.parent <> '')
		SELECT session FROM family ORDER BY session`, owner, session)
}

// EraseFamily erases a family of sessions in an open transaction that nobody else writes to it
// in, and tells what is gone; nothing, if it has changed since o.Before. Step, if not nil,
// is called before each change, for faults.
func EraseFamily(ctx context.Context, db Writer, owner string, family []string, o record.Erase, step func(string) error) ([]record.Erased, error) {
	var all []record.Erased
	for _, session := range family {
		e, keep, err := weigh(ctx, db, owner, session, o)
		if err != nil || keep {
			return nil, err
		}
		all = append(all, e)
	}
	if o.DryRun {
		return all, nil
	}
	for _, e := range all {
		if err := erase(ctx, db, e, step); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// weigh counts what a session is, and tells whether it has changed too lately.
func weigh(ctx context.Context, db Reader, owner, session string, o record.Erase) (e record.Erased, keep bool, err error) {
	e = record.Erased{Owner: owner, Session: session, Why: o.Why, Time: o.Time.UTC()}
	var updated, open, running int64
	for _, q := range []struct {
		text string
		into []any
	}{
		{`SELECT updated FROM sessions WHERE owner = $1 AND id = $2`, []any{&updated}},
		{`SELECT count(*), coalesce(sum(octet_length(body) + coalesce(octet_length(blob), 0)), 0) FROM records WHERE owner = $1 AND session = $2`, []any{&e.Records, &e.Bytes}},
		{`SELECT count(*), count(CASE WHEN status = 'open' THEN 1 END) FROM turns WHERE owner = $1 AND session = $2`, []any{&e.Turns, &open}},
		{`SELECT count(*) FROM runs WHERE owner = $1 AND session = $2 AND status = 'running'`, []any{&running}},
	} {
		if err := db.Query(ctx, func(r Row) error { return r.Scan(q.into...) }, q.text, owner, session); err != nil {
			return e, false, err
		}
	}
	if !o.Before.IsZero() && updated >= o.Before.UnixNano() {
		return e, true, nil
	}
	if open > 0 {
		return e, false, errs.New(errs.Overloaded, fmt.Sprintf("a turn of session %s is being answered", session), "wait for its answer, then try again")
	}
	if running > 0 {
		return e, false, errs.New(errs.Overloaded, fmt.Sprintf("session %s is a run that is under way", session), "wait for its end, or cancel it, then try again")
	}
	return e, false, nil
}

// erase deletes one session, on the record: only while its entry in deletions is not done
// do the triggers let records go.
func erase(ctx context.Context, db Writer, e record.Erased, step func(string) error) error {
	key := []any{e.Owner, e.Session}
	for _, s := range []struct {
		name, text string
		args       []any
	}{
		{"note", `INSERT INTO deletions (owner, session, why, time, records, turns, bytes, done) VALUES ($1, $2, $3, $4, $5, $6, $7, FALSE)`,
			append(slices.Clone(key), e.Why, e.Time.UnixNano(), e.Records, e.Turns, e.Bytes)},
		{"records", `DELETE FROM records WHERE owner = $1 AND session = $2`, key},
		{"chains", `DELETE FROM chains WHERE owner = $1 AND session = $2`, key},
		{"calls", `DELETE FROM calls WHERE owner = $1 AND session = $2`, key},
		{"forge_trials", `DELETE FROM forge_trials WHERE owner = $1 AND session = $2`, key},
		{"summaries", `DELETE FROM summaries WHERE owner = $1 AND session = $2`, key},
		{"turns", `DELETE FROM turns WHERE owner = $1 AND session = $2`, key},
		{"memory", `DELETE FROM memory WHERE owner = $1 AND session = $2`, key},
		{"shed", `DELETE FROM shed WHERE owner = $1 AND session = $2`, key},
		{"runs", `DELETE FROM runs WHERE owner = $1 AND session = $2`, key},
		{"sessions", `DELETE FROM sessions WHERE owner = $1 AND id = $2`, key},
		{"done", `UPDATE deletions SET done = TRUE WHERE owner = $1 AND session = $2 AND NOT done`, key},
	} {
		if step != nil {
			if err := step(s.name); err != nil {
				return err
			}
		}
		if err := run(ctx, db, s.text, s.args...); err != nil {
			return err
		}
	}
	return nil
}
