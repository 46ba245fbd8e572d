package logsql

import (
	"fmt"
	"strings"
	"time"

	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
)

// nano is a time as the tables have it; the zero time is 0.
func nano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func when(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// in names the table that a condition is about.
func in(condition, table string) string { return strings.ReplaceAll(condition, "%", table) }

// put is the statement that writes a row in place of the one with its key.
func put(table, columns, key string) string {
	var marks, sets []string
	for i, c := range strings.Split(columns, ", ") {
		marks = append(marks, fmt.Sprintf("$%d", i+1))
		sets = append(sets, c+" = excluded."+c)
	}
	return `INSERT INTO ` + table + ` (` + columns + `) VALUES (` + strings.Join(marks, ", ") + `) ON CONFLICT (` + key + `) DO UPDATE SET ` + strings.Join(sets, ", ")
}

const (
	mintSessionColumns    = `owner, id, about, created, seen, ended, reason, detail`
	mintModelColumns      = `owner, id, session, base, about, created, used, steps, applied, snapshot, snapshot_at, snapshot_steps, form, unloaded, corrupted`
	mintOpColumns         = `owner, id, session, model, sampler, seq, kind, state, body, body_blob, result, result_blob, failure, category, bytes, created, done`
	mintSamplerColumns    = `owner, id, session, base, model, path, adapter, inflight, created, used`
	mintCheckpointColumns = `owner, path, run, kind, name, base, about, state, adapter, bytes, created, expires, public`
)

var (
	putSession    = put("mint_sessions", mintSessionColumns, "owner, id")
	putModel      = put("mint_models", mintModelColumns, "owner, id")
	putSampler    = put("mint_samplers", mintSamplerColumns, "owner, id")
	putCheckpoint = put("mint_checkpoints", mintCheckpointColumns, "path")
)

func sessionRow(s ledger.Session) []any {
	return []any{s.Owner, s.ID, s.About, nano(s.Created), nano(s.Seen), nano(s.Ended), s.Reason, s.Detail}
}

func modelRow(m ledger.Model) []any {
	return []any{m.Owner, m.ID, m.Session, m.Base, m.About, nano(m.Created), nano(m.Used), m.Steps, m.Applied,
		string(m.Snapshot), m.SnapshotAt, m.SnapshotSteps, string(m.Form), bit(m.Unloaded), bit(m.Corrupted)}
}

func opRow(o ledger.Op) []any {
	return []any{o.Owner, o.ID, o.Session, o.Model, o.Sampler, o.Seq, o.Kind, o.State, o.Body, string(o.BodyBlob),
		o.Result, string(o.ResultBlob), o.Failure, o.Category, o.Bytes, nano(o.Created), nano(o.Done)}
}

func samplerRow(s ledger.Sampler) []any {
	return []any{s.Owner, s.ID, s.Session, s.Base, s.Model, s.Path, string(s.Adapter), bit(s.Inflight), nano(s.Created), nano(s.Used)}
}

func checkpointRow(c ledger.Checkpoint) []any {
	return []any{c.Owner, c.Path, c.Run, c.Kind, c.Name, c.Base, c.About, string(c.State), string(c.Adapter), c.Bytes, nano(c.Created), nano(c.Expires), bit(c.Public)}
}

// mintRow reads a row: times and switches are whole numbers in the tables.
type mintRow struct {
	to    []any
	after []func()
}

func (r *mintRow) add(places ...any) {
	for _, p := range places {
		switch p := p.(type) {
		case *time.Time:
			n := new(int64)
			r.to = append(r.to, n)
			r.after = append(r.after, func() { *p = when(*n) })
		case *bool:
			n := new(int64)
			r.to = append(r.to, n)
			r.after = append(r.after, func() { *p = *n != 0 })
		case *ids.Digest:
			s := new(string)
			r.to = append(r.to, s)
			r.after = append(r.after, func() { *p = ids.Digest(*s) })
		default:
			r.to = append(r.to, p)
		}
	}
}

func scanMint(row Row, places ...any) error {
	var r mintRow
	r.add(places...)
	if err := row.Scan(r.to...); err != nil {
		return err
	}
	for _, f := range r.after {
		f()
	}
	return nil
}

func scanMintSession(r Row) (s ledger.Session, err error) {
	err = scanMint(r, &s.Owner, &s.ID, &s.About, &s.Created, &s.Seen, &s.Ended, &s.Reason, &s.Detail)
	return s, err
}

func scanMintModel(r Row) (m ledger.Model, err error) {
	err = scanMint(r, &m.Owner, &m.ID, &m.Session, &m.Base, &m.About, &m.Created, &m.Used, &m.Steps, &m.Applied,
		&m.Snapshot, &m.SnapshotAt, &m.SnapshotSteps, &m.Form, &m.Unloaded, &m.Corrupted)
	return m, err
}

func scanMintOp(r Row) (o ledger.Op, err error) {
	err = scanMint(r, &o.Owner, &o.ID, &o.Session, &o.Model, &o.Sampler, &o.Seq, &o.Kind, &o.State, &o.Body, &o.BodyBlob,
		&o.Result, &o.ResultBlob, &o.Failure, &o.Category, &o.Bytes, &o.Created, &o.Done)
	return o, err
}

func scanMintSampler(r Row) (s ledger.Sampler, err error) {
	err = scanMint(r, &s.Owner, &s.ID, &s.Session, &s.Base, &s.Model, &s.Path, &s.Adapter, &s.Inflight, &s.Created, &s.Used)
	return s, err
}

func scanMintCheckpoint(r Row) (c ledger.Checkpoint, err error) {
	err = scanMint(r, &c.Owner, &c.Path, &c.Run, &c.Kind, &c.Name, &c.Base, &c.About, &c.State, &c.Adapter, &c.Bytes, &c.Created, &c.Expires, &c.Public)
	return c, err
}
