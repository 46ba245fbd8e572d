package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// Snapshot writes the log in the file from, as it is at one moment, to a new file, while
// others read and write it. The copy is compact and has no write-ahead log beside it.
func Snapshot(ctx context.Context, from, to string) error {
	s := &Store{path: from}
	db, err := sql.Open("sqlite", dsn(from))
	if err != nil {
		return s.coded(err)
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return s.coded(errors.Join(err, db.Close()))
}
