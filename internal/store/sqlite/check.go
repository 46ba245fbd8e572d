package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"macaron/internal/errs"
)

// Check reads the whole file of a log, whether or not a process writes it, and says whether
// its pages, its indexes and what refers to what are sound.
func Check(ctx context.Context, path string) error {
	s := &Store{path: path}
	db, err := sql.Open("sqlite", dsn(path, "query_only(1)"))
	if err != nil {
		return s.coded(err)
	}
	var found []string
	for _, q := range []string{
		"SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
		"SELECT \"table\" || ' refers to a missing row of ' || parent FROM pragma_foreign_key_check",
	} {
		err = errors.Join(err, texts(ctx, db, q, &found))
	}
	if err = errors.Join(err, db.Close()); err == nil && len(found) > 0 {
		err = errs.New(errs.FormatInvalid, "the log "+path+" is damaged: "+errs.Clip(strings.Join(found, "; ")), "restore it from a backup; check the disk")
	}
	return s.coded(err)
}

// texts adds the rows of a query of one column.
func texts(ctx context.Context, db *sql.DB, query string, to *[]string) (err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		*to = append(*to, text)
	}
	return rows.Err()
}
