package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// rows runs a query on the readers' pool and scans each row.
func rows[T any](ctx context.Context, s *Store, scan func(*sql.Rows) (T, error), query string, args ...any) (all []T, err error) {
	result, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.coded(err)
	}
	defer func() {
		if e := result.Close(); err == nil {
			err = s.coded(e)
		}
	}()
	for result.Next() {
		v, err := scan(result)
		if err != nil {
			return nil, s.coded(err)
		}
		all = append(all, v)
	}
	return all, s.coded(result.Err())
}

// single is rows for a query of at most one; none is errs.NotFound.
func single[T any](ctx context.Context, s *Store, what string, scan func(*sql.Rows) (T, error), query string, args ...any) (T, error) {
	all, err := rows(ctx, s, scan, query, args...)
	if err == nil && len(all) == 0 {
		err = errs.New(errs.NotFound, "there is no such "+what, "list your sessions to see what there is")
	}
	if err != nil {
		var none T
		return none, err
	}
	return all[0], nil
}

// chunk is how many hashes one query looks up.
const chunk = 128

// LastChain gives the index of the last of these hashes that has entries in an
// owner's scope, -1 if none has, and the entries: those of the given session first,
// then newest first, at most limit.
func (s *Store) LastChain(ctx context.Context, owner, scope, session string, hashes [][32]byte, limit int) (int, []record.Chain, error) {
	for end := len(hashes); end > 0; end -= chunk {
		start := max(0, end-chunk)
		last, err := s.lastKnown(ctx, owner, scope, hashes[start:end])
		if err != nil {
			return -1, nil, err
		}
		if last >= 0 {
			found, err := s.chains(ctx, owner, scope, session, hashes[start+last], limit)
			return start + last, found, err
		}
	}
	return -1, nil, nil
}

// lastKnown gives the index of the last hash that has entries, or -1.
func (s *Store) lastKnown(ctx context.Context, owner, scope string, hashes [][32]byte) (int, error) {
	marks := make([]string, len(hashes))
	args := []any{owner, scope}
	for i := range hashes {
		marks[i] = fmt.Sprintf("(%d, ?%d)", i, i+3) // ?1 is the owner, ?2 the scope
		args = append(args, hashes[i][:])
	}
	found, err := rows(ctx, s, func(r *sql.Rows) (i int, err error) { return i, r.Scan(&i) },
		`WITH asked (i, hash) AS (VALUES `+strings.Join(marks, ", ")+`) SELECT i FROM asked
		WHERE EXISTS (SELECT 1 FROM chains c WHERE c.owner = ?1 AND c.scope = ?2 AND c.hash = asked.hash)
		ORDER BY i DESC LIMIT 1`, args...)
	if err != nil || len(found) == 0 {
		return -1, err
	}
	return found[0], nil
}

func (s *Store) chains(ctx context.Context, owner, scope, session string, hash [32]byte, limit int) ([]record.Chain, error) {
	return rows(ctx, s, func(r *sql.Rows) (record.Chain, error) {
		c := record.Chain{Owner: owner, Scope: scope, Hash: hash}
		return c, r.Scan(&c.Turn, &c.Session, &c.Messages, &c.End)
	}, `SELECT turn, session, messages, ending FROM chains WHERE owner = ? AND scope = ? AND hash = ?
		ORDER BY session = ? DESC, turn DESC LIMIT ?`, owner, scope, hash[:], session, limit)
}

// Calls gives the turns that a tool call id belongs to, newest first, at most limit.
func (s *Store) Calls(ctx context.Context, owner, scope, id string, limit int) ([]record.Call, error) {
	return rows(ctx, s, func(r *sql.Rows) (c record.Call, err error) {
		c.Owner, c.Scope, c.ID = owner, scope, id
		return c, r.Scan(&c.Turn, &c.Session, &c.Messages)
	}, `SELECT turn, session, messages FROM calls WHERE owner = ? AND scope = ? AND id = ? ORDER BY turn DESC LIMIT ?`, owner, scope, id, limit)
}

const turnColumns = `SELECT owner, scope, session, id, parent, status FROM turns `

func scanTurn(r *sql.Rows) (t record.TurnState, err error) {
	return t, r.Scan(&t.Owner, &t.Scope, &t.Session, &t.Turn, &t.Parent, &t.Status)
}

// Turn tells how a turn stands.
func (s *Store) Turn(ctx context.Context, owner, turn string) (record.TurnState, error) {
	return single(ctx, s, "turn", scanTurn, turnColumns+`WHERE owner = ? AND id = ?`, owner, turn)
}

// Children gives the turns whose parent this is, by id.
func (s *Store) Children(ctx context.Context, owner, turn string) ([]record.TurnState, error) {
	return rows(ctx, s, scanTurn, turnColumns+`INDEXED BY turns_parent WHERE owner = ? AND parent = ? AND parent <> '' ORDER BY id`, owner, turn)
}

// Open lists the turns of all owners that are open, at most limit.
func (s *Store) Open(ctx context.Context, limit int) ([]record.TurnState, error) {
	return rows(ctx, s, scanTurn, turnColumns+`WHERE status = 'open' ORDER BY owner, id LIMIT ?`, limit)
}

const sessionColumns = `SELECT owner, scope, id, root, forked_from, title, opened, updated, turns FROM sessions `

func scanSession(r *sql.Rows) (e record.SessionState, err error) {
	var opened, updated int64
	err = r.Scan(&e.Owner, &e.Scope, &e.Session, &e.Root, &e.ForkedFrom, &e.Title, &opened, &updated, &e.Turns)
	e.Opened, e.Updated = time.Unix(0, opened).UTC(), time.Unix(0, updated).UTC()
	return e, err
}

// Session tells how a session stands.
func (s *Store) Session(ctx context.Context, owner, session string) (record.SessionState, error) {
	return single(ctx, s, "session", scanSession, sessionColumns+`WHERE owner = ? AND id = ?`, owner, session)
}

// Sessions lists an owner's sessions by last change, newest first; a zero before
// means all.
func (s *Store) Sessions(ctx context.Context, owner string, before time.Time, limit int) ([]record.SessionState, error) {
	until := int64(1<<63 - 1)
	if !before.IsZero() {
		until = before.UnixNano()
	}
	return rows(ctx, s, scanSession, sessionColumns+`WHERE owner = ? AND updated < ? ORDER BY updated DESC, id DESC LIMIT ?`, owner, until, limit)
}

const recordColumns = `r.seq, r.id, r.owner, r.session, r.run, r.turn, r.parent_turn, r.request, r.time,
	r.contract, r.revision, r.purpose, r.consent, r.kind, r.body`

func scanRecord(r *sql.Rows) (out record.Record, err error) {
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
func (s *Store) Lineage(ctx context.Context, owner, turn string, depth int) ([]record.Record, error) {
	return rows(ctx, s, scanRecord, `WITH RECURSIVE line (id, parent, depth) AS (
			SELECT id, parent, 1 FROM turns WHERE owner = ?1 AND id = ?2
			UNION ALL
			SELECT t.id, t.parent, line.depth + 1 FROM line JOIN turns t ON t.owner = ?1 AND t.id = line.parent
			WHERE line.parent <> '' AND line.depth < ?3)
		SELECT `+recordColumns+`, NULL FROM line CROSS JOIN records r ON r.owner = ?1 AND r.turn = line.id AND r.turn <> ''
		ORDER BY r.seq`, owner, turn, depth)
}

// Records gives a session's records by Seq, those after the given one, at most limit.
func (s *Store) Records(ctx context.Context, owner, session string, after int64, limit int) ([]record.Record, error) {
	return rows(ctx, s, scanRecord, `SELECT `+recordColumns+`, r.blob FROM records r
		WHERE r.owner = ? AND r.session = ? AND r.seq > ? ORDER BY r.seq LIMIT ?`, owner, session, after, limit)
}
