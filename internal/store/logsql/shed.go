package logsql

import (
	"context"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// shelve enters a saved tool and hides its session from the conversations.
func shelve(ctx context.Context, db Writer, r record.Record, b record.ToolSaved) error {
	now := r.Time.UnixNano()
	if err := run(ctx, db, `INSERT INTO shed (owner, tool, session, name, opened, updated) VALUES ($1, $2, $3, $4, $5, $6)`,
		r.Owner, r.Run, r.Session, b.Name, now, now); err != nil {
		return err
	}
	return one(ctx, db, `UPDATE sessions SET run = $1 WHERE owner = $2 AND id = $3`, r.Run, r.Owner, r.Session)
}

// moveShelf keeps the time of the last change of a saved tool.
func moveShelf(ctx context.Context, db Writer, r record.Record) error {
	now := r.Time.UnixNano()
	if err := one(ctx, db, `UPDATE shed SET `+touch+` WHERE owner = $2 AND tool = $3`, now, r.Owner, r.Run); err != nil {
		return err
	}
	return one(ctx, db, `UPDATE sessions SET `+touch+` WHERE owner = $2 AND id = $3`, now, r.Owner, r.Session)
}

const shelfColumns = `SELECT owner, tool, session, name, opened, updated FROM shed `

func scanShelf(r Row) (s record.Shelf, err error) {
	var opened, updated int64
	err = r.Scan(&s.Owner, &s.Tool, &s.Session, &s.Name, &opened, &updated)
	s.Opened, s.Updated = time.Unix(0, opened).UTC(), time.Unix(0, updated).UTC()
	return s, err
}

// Shelf tells where an owner's saved tool stands.
func (l Log) Shelf(ctx context.Context, owner string, tool ids.Digest) (record.Shelf, error) {
	found, err := list(ctx, l, scanShelf, shelfColumns+`WHERE owner = $1 AND tool = $2`, owner, string(tool))
	if err == nil && len(found) == 0 {
		err = errs.New(errs.NotFound, "there is no such tool", "`macaron tool list` shows yours")
	}
	if err != nil {
		return record.Shelf{}, err
	}
	return found[0], nil
}

// Shed lists an owner's saved tools by name, the newest of a name first, at most limit.
func (l Log) Shed(ctx context.Context, owner string, limit int) ([]record.Shelf, error) {
	return list(ctx, l, scanShelf, shelfColumns+`WHERE owner = $1 ORDER BY name, opened DESC, tool LIMIT $2`, owner, limit)
}
