package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/store/logsql"
)

// BeforeErase is a stage of a deletion: before each of its steps. The kind that Fault gets
// is the step's name.
const BeforeErase Stage = "erase"

// Erase deletes a session and those that build on it, all or nothing, and tells what is
// gone. With o.Before, nothing goes if any of them has changed since.
func (s *Store) Erase(ctx context.Context, owner, session string, o record.Erase) (gone []record.Erased, err error) {
	err = s.do(ctx, "", func(ctx context.Context, db logsql.Writer) error {
		family, err := logsql.Family(ctx, db, owner, session)
		if err == nil && len(family) == 0 {
			err = errs.New(errs.NotFound, "there is no such session", "list the sessions of this tenant to see what there is")
		}
		if err != nil {
			return err
		}
		gone, err = logsql.EraseFamily(ctx, db, owner, family, o, func(step string) error { return s.fault(BeforeErase, record.Kind(step)) })
		return err
	})
	if err != nil {
		return nil, err
	}
	if !o.DryRun && len(gone) > 0 {
		s.recent.clear()
		for _, e := range gone {
			s.tasks.erased(e.Owner, e.Session)
		}
	}
	return gone, nil
}

// Reclaim gives the space of what was deleted back to the file system, and leaves no copy
// of it in the files. A file that an older build made keeps the space for what comes.
func (s *Store) Reclaim(ctx context.Context) error {
	db, err := sql.Open("sqlite", dsn(s.path))
	if err != nil {
		return s.coded(err)
	}
	db.SetMaxOpenConns(1)
	for _, q := range []string{"PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		rows, e := db.QueryContext(ctx, q)
		err = errors.Join(err, drain(rows, e, func(logsql.Row) error { return nil })) // it works as it is read
	}
	return s.coded(errors.Join(err, db.Close()))
}
