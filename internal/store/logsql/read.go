package logsql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// Log reads the log: the methods of session.Store that change nothing.
type Log struct{ Reader }

// single is list for a query of at most one row; none is errs.NotFound.
func single[T any](ctx context.Context, db Reader, what string, scan func(Row) (T, error), query string, args ...any) (T, error) {
	all, err := list(ctx, db, scan, query, args...)
	if err == nil && len(all) == 0 {
		err = errs.New(errs.NotFound, "there is no such "+what, "list your sessions to see what there is")
	}
	if err != nil {
		var none T
		return none, err
	}
	return all[0], nil
}

// One query looks up this many hashes, but the first only a few: what a client sends
// again is known up to its last messages.
const (
	firstChunk = 8
	chunk      = 128
)

// LastChain gives the index of the last of these hashes that has entries in an
// owner's scope, -1 if none has, and the entries: those of the given session first,
// then newest first, at most limit.
func (l Log) LastChain(ctx context.Context, owner, scope, session string, hashes [][32]byte, limit int) (int, []record.Chain, error) {
	for end, size := len(hashes), firstChunk; end > 0; end, size = end-size, chunk {
		start := max(0, end-size)
		last, err := l.lastKnown(ctx, owner, scope, hashes[start:end])
		if err != nil {
			return -1, nil, err
		}
		if last >= 0 {
			found, err := l.chains(ctx, owner, scope, session, hashes[start+last], limit)
			return start + last, found, err
		}
	}
	return -1, nil, nil
}

// lastKnown gives the index of the last hash that has entries, or -1. There are three
// statements, so that stores can keep them prepared; a short list is repeated.
func (l Log) lastKnown(ctx context.Context, owner, scope string, hashes [][32]byte) (int, error) {
	query, size := knownFew, firstChunk
	switch {
	case len(hashes) == 1:
		query, size = knownOne, 1
	case len(hashes) > firstChunk:
		query, size = knownMany, chunk
	}
	args := make([]any, 2, size+2)
	args[0], args[1] = owner, scope
	for i := range size {
		args = append(args, hashes[i%len(hashes)][:])
	}
	last := -1
	err := l.Query(ctx, func(r Row) error {
		var hash []byte
		err := r.Scan(&hash)
		for i := len(hashes) - 1; i > last; i-- {
			if string(hashes[i][:]) == string(hash) {
				last = i
			}
		}
		return err
	}, query, args...)
	return last, err
}

const knownOne = `SELECT hash FROM chains WHERE owner = $1 AND scope = $2 AND hash = $3 LIMIT 1`

var knownFew, knownMany = known(firstChunk), known(chunk)

func known(n int) string {
	marks := make([]string, n)
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", i+3)
	}
	return `SELECT DISTINCT hash FROM chains WHERE owner = $1 AND scope = $2 AND hash IN (` + strings.Join(marks, ", ") + `)`
}

func (l Log) chains(ctx context.Context, owner, scope, session string, hash [32]byte, limit int) ([]record.Chain, error) {
	return list(ctx, l, func(r Row) (record.Chain, error) {
		c := record.Chain{Owner: owner, Scope: scope, Hash: hash}
		return c, r.Scan(&c.Turn, &c.Session, &c.Messages, &c.End)
	}, `SELECT turn, session, messages, ending FROM chains WHERE owner = $1 AND scope = $2 AND hash = $3
		ORDER BY session = $4 DESC, turn DESC LIMIT $5`, owner, scope, hash[:], session, limit)
}

// Calls gives the turns that a tool call id belongs to, newest first, at most limit.
func (l Log) Calls(ctx context.Context, owner, scope, id string, limit int) ([]record.Call, error) {
	return list(ctx, l, func(r Row) (c record.Call, err error) {
		c.Owner, c.Scope, c.ID = owner, scope, id
		return c, r.Scan(&c.Turn, &c.Session, &c.Messages)
	}, `SELECT turn, session, messages FROM calls WHERE owner = $1 AND scope = $2 AND id = $3 ORDER BY turn DESC LIMIT $4`, owner, scope, id, limit)
}

const turnColumns = `SELECT owner, scope, session, id, parent, status FROM turns `

func scanTurn(r Row) (t record.TurnState, err error) {
	return t, r.Scan(&t.Owner, &t.Scope, &t.Session, &t.Turn, &t.Parent, &t.Status)
}

// Turn tells how a turn stands.
func (l Log) Turn(ctx context.Context, owner, turn string) (record.TurnState, error) {
	return single(ctx, l, "turn", scanTurn, turnColumns+`WHERE owner = $1 AND id = $2`, owner, turn)
}

// Children gives the turns whose parent this is, by id. The order is that of an
// expression, so that no planner reads all turns of an owner in the order of their ids.
func (l Log) Children(ctx context.Context, owner, turn string) ([]record.TurnState, error) {
	return list(ctx, l, scanTurn, turnColumns+`WHERE owner = $1 AND parent = $2 AND parent <> '' ORDER BY id || ''`, owner, turn)
}

// Locate gives the turn of the first of an owner's records, among those with ids from from
// to to, that belongs to a request or is a hop of that id; "" if there is none.
func (l Log) Locate(ctx context.Context, owner, from, to, id string) (string, error) {
	found, err := list(ctx, l, func(r Row) (s string, err error) { return s, r.Scan(&s) },
		`SELECT turn FROM records WHERE owner = $1 AND id >= $2 AND id < $3 AND turn <> '' AND (request = $4 OR kind = 'hop' AND substr(body, 1, $5) = $6) ORDER BY id LIMIT 1`,
		owner, from, to, id, len(id)+len(hopStart)+1, hopStart+id+`"`)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

// hopStart is how the body of a hop begins: with its id.
const hopStart = `{"id":"`

// Turns lists turns of all owners by a condition on the table turns.
func (l Log) Turns(ctx context.Context, limit int, condition string, args ...any) ([]record.TurnState, error) {
	return list(ctx, l, scanTurn, turnColumns+`WHERE `+condition+` ORDER BY owner, id LIMIT $1`, append([]any{limit}, args...)...)
}

const sessionColumns = `SELECT owner, scope, id, root, forked_from, title, opened, updated, turns FROM sessions `

func scanSession(r Row) (e record.SessionState, err error) {
	var opened, updated int64
	err = r.Scan(&e.Owner, &e.Scope, &e.Session, &e.Root, &e.ForkedFrom, &e.Title, &opened, &updated, &e.Turns)
	e.Opened, e.Updated = time.Unix(0, opened).UTC(), time.Unix(0, updated).UTC()
	return e, err
}

// Session tells how a session stands.
func (l Log) Session(ctx context.Context, owner, session string) (record.SessionState, error) {
	return single(ctx, l, "session", scanSession, sessionColumns+`WHERE owner = $1 AND id = $2`, owner, session)
}

// Sessions lists an owner's sessions by last change, newest first, those of runs left
// out; a zero before means all.
func (l Log) Sessions(ctx context.Context, owner string, before time.Time, limit int) ([]record.SessionState, error) {
	until := int64(1<<63 - 1)
	if !before.IsZero() {
		until = before.UnixNano()
	}
	return list(ctx, l, scanSession, sessionColumns+`WHERE owner = $1 AND run = '' AND updated < $2 ORDER BY updated DESC, id DESC LIMIT $3`, owner, until, limit)
}

// recordColumns are those of a record but its blob.
const recordColumns = `r.seq, r.id, r.owner, r.session, r.run, r.turn, r.parent_turn, r.request, r.time,
	r.contract, r.revision, r.purpose, r.consent, r.kind, r.body`

func scanRecord(r Row) (out record.Record, err error) {
	var (
		nanos      int64
		kind, body string
		blob       []byte
	)
	h := &out.Head
	if err := r.Scan(&h.Seq, &h.ID, &h.Owner, &h.Session, &h.Run, &h.Turn, &h.ParentTurn, &h.Request, &nanos,
		&h.Contract, &h.Revision, &h.Purpose, &h.Consent, &kind, &body, &blob); err != nil {
		return out, err
	}
	h.Time = time.Unix(0, nanos).UTC()
	if blob != nil {
		if h.Blob, err = record.DecodeBlob(blob); err != nil {
			return out, err
		}
	}
	out.Body, err = record.DecodeBody(record.Kind(kind), []byte(body))
	return out, err
}

// Lineage gives the records of a turn and its ancestors, at most depth turns, by
// Seq, without their token blobs.
func (l Log) Lineage(ctx context.Context, owner, turn string, depth int) ([]record.Record, error) {
	return list(ctx, l, scanRecord, `WITH RECURSIVE line (id, parent, depth) AS (
			SELECT id, parent, 1 FROM turns WHERE owner = $1 AND id = $2
			UNION ALL
			SELECT t.id, t.parent, line.depth + 1 FROM line JOIN turns t ON t.owner = $1 AND t.id = line.parent
			WHERE line.parent <> '' AND line.depth < $3)
		SELECT `+recordColumns+`, NULL FROM line CROSS JOIN records r WHERE r.owner = $1 AND r.turn = line.id AND r.turn <> ''
		ORDER BY r.seq`, owner, turn, depth)
}

// Records gives a session's records by Seq, those after the given one, at most limit.
func (l Log) Records(ctx context.Context, owner, session string, after int64, limit int) ([]record.Record, error) {
	return list(ctx, l, scanRecord, `SELECT `+recordColumns+`, r.blob FROM records r
		WHERE r.owner = $1 AND r.session = $2 AND r.seq > $3 ORDER BY r.seq LIMIT $4`, owner, session, after, limit)
}

// After gives the records of an owner's sessions behind the given marks, by Seq,
// without their token blobs, at most limit.
func (l Log) After(ctx context.Context, owner string, marks []record.Mark, limit int) ([]record.Record, error) {
	if len(marks) == 0 {
		return nil, nil
	}
	args := []any{owner, limit}
	var parts []string
	for _, m := range marks {
		parts = append(parts, fmt.Sprintf(`SELECT `+recordColumns+`, NULL AS blob FROM records r WHERE r.owner = $1 AND r.session = $%d AND r.seq > $%d`, len(args)+1, len(args)+2))
		args = append(args, m.Session, m.Seq)
	}
	return list(ctx, l, scanRecord, strings.Join(parts, " UNION ALL ")+` ORDER BY seq LIMIT $2`, args...)
}
