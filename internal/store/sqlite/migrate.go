package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"io/fs"
	"strconv"

	"github.com/pressly/goose/v3"

	"macaron/internal/errs"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks our database files ("MCR1").
const applicationID = 1296257585

// migrate brings the schema to this build's version; a file of a newer build, or
// of another program, is refused and left as it is.
func migrate(ctx context.Context, db *sql.DB) error {
	var app, tables int
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return err
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if tables > 0 && app != applicationID {
		return errs.New(errs.FormatInvalid, "the file is a database of another program", "name another MACARON_HOME, or move the file away")
	}
	if tables == 0 { // first, so that a file whose making is cut short is known as ours
		if _, err := db.ExecContext(ctx, "PRAGMA application_id = "+strconv.Itoa(applicationID)); err != nil {
			return err
		}
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files)
	if err != nil {
		return err
	}
	if tables > 0 {
		current, target, err := provider.GetVersions(ctx)
		if err != nil {
			return err
		}
		if current > target {
			return errs.New(errs.Unsupported, "the log was written by a newer build of macaron", "use that build, or name another MACARON_HOME")
		}
	}
	_, err = provider.Up(ctx)
	return err
}
