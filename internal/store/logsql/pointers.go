package logsql

import (
	"context"
	"encoding/json"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// MovePointers makes all moves or none, in an open transaction that nobody else moves the
// owner's pointers in. Each has the version that it is to become; where that is not the next
// one it fails with record.ErrConflict. A revision that a pointer comes to must be in the
// catalogue, and is kept from collection with so many of its parents.
func MovePointers(ctx context.Context, db Writer, owner string, moves []adapter.Pointer, parents int) error {
	for _, m := range moves {
		m.Owner = owner
		if m.Revision != "" {
			if err := present(ctx, db, m); err != nil {
				return err
			}
			if err := revive(ctx, db, m.Owner, m.Revision, parents); err != nil {
				return err
			}
		}
		if err := movePointer(ctx, db, m); err != nil {
			return err
		}
	}
	return nil
}

// present also locks the row, where a database has such locks, against its removal.
func present(ctx context.Context, db Writer, m adapter.Pointer) error {
	n, err := db.Exec(ctx, `UPDATE revisions SET condemned = 0 WHERE owner = $1 AND hash = $2`, m.Owner, string(m.Revision))
	if err == nil && n == 0 {
		err = noRevision(m.Revision)
	}
	return err
}

func movePointer(ctx context.Context, db Writer, m adapter.Pointer) error {
	found, err := list(ctx, db, func(r Row) (v int64, err error) { return v, r.Scan(&v) },
		`SELECT version FROM pointers WHERE owner = $1 AND name = $2 AND alias = $3`, m.Owner, m.Name, m.Alias)
	if err != nil {
		return err
	}
	var now int64
	if len(found) > 0 {
		now = found[0]
	}
	if m.Version != now+1 {
		return record.ErrConflict
	}
	body, err := json.Marshal(m)
	if err != nil {
		return errs.Wrap(errs.Internal, err, "the move cannot be written", "")
	}
	args := []any{m.Owner, m.Name, m.Alias, m.Version, string(m.Revision), m.At.UnixNano(), string(body)}
	const columns = ` (owner, name, alias, version, revision, at, body) VALUES ($1, $2, $3, $4, $5, $6, $7)`
	if err := run(ctx, db, `INSERT INTO moves`+columns, args...); err != nil {
		return err
	}
	return run(ctx, db, `INSERT INTO pointers`+columns+` ON CONFLICT (owner, name, alias) DO UPDATE SET
		version = excluded.version, revision = excluded.revision, at = excluded.at, body = excluded.body`, args...)
}

func scanPointer(r Row) (p adapter.Pointer, err error) {
	var owner, body string
	var at int64
	if err := r.Scan(&owner, &at, &body); err != nil {
		return p, err
	}
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		return p, errs.Wrap(errs.FormatInvalid, err, "a pointer of the catalogue cannot be read", "restore the database from a backup")
	}
	p.Owner, p.At = owner, time.Unix(0, at).UTC()
	return p, nil
}

// Pointers lists an owner's pointers by name and alias; of one adapter, unless name is empty.
func (l Log) Pointers(ctx context.Context, owner, name string) ([]adapter.Pointer, error) {
	return list(ctx, l, scanPointer, `SELECT owner, at, body FROM pointers WHERE owner = $1 AND ($2 = '' OR name = $2) ORDER BY name, alias`, owner, name)
}

// Moves lists how an owner's pointer has moved, the latest first, at most limit; of all
// aliases of the adapter, if alias is empty.
func (l Log) Moves(ctx context.Context, owner, name, alias string, limit int) ([]adapter.Pointer, error) {
	return list(ctx, l, scanPointer, `SELECT owner, at, body FROM moves WHERE owner = $1 AND name = $2 AND ($3 = '' OR alias = $3) ORDER BY at DESC, version DESC, alias LIMIT $4`,
		owner, name, alias, limit)
}

// MovesSince gives the revisions that an owner's pointers have come to or were exported
// since a time, and those that they stand on.
func (l Log) MovesSince(ctx context.Context, owner string, since time.Time) ([]adapter.Pointer, error) {
	return list(ctx, l, scanPointer, `SELECT owner, at, body FROM moves WHERE owner = $1 AND at >= $2
		UNION ALL SELECT owner, at, body FROM pointers WHERE owner = $1`, owner, since.UnixNano())
}

// HoldRevision keeps a revision from collection until a time.
func HoldRevision(ctx context.Context, db Writer, h adapter.Hold) error {
	if err := present(ctx, db, adapter.Pointer{Owner: h.Owner, Revision: h.Revision}); err != nil {
		return err
	}
	return run(ctx, db, `INSERT INTO revision_holds (owner, revision, holder, until) VALUES ($1, $2, $3, $4)
		ON CONFLICT (owner, revision, holder) DO UPDATE SET until = excluded.until`, h.Owner, string(h.Revision), h.Holder, h.Until.UnixNano())
}

// LetRevision ends a hold.
func LetRevision(ctx context.Context, db Writer, h adapter.Hold) error {
	return run(ctx, db, `DELETE FROM revision_holds WHERE owner = $1 AND revision = $2 AND holder = $3`, h.Owner, string(h.Revision), h.Holder)
}

// HeldRevisions lists what is held at a time.
func (l Log) HeldRevisions(ctx context.Context, owner string, now time.Time) ([]ids.Digest, error) {
	return list(ctx, l, scanDigest, `SELECT DISTINCT revision FROM revision_holds WHERE owner = $1 AND until > $2`, owner, now.UnixNano())
}
