package postgres

import (
	"context"
	"embed"
	"errors"
	"io/fs"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"macaron/internal/errs"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema to this build's version; one process at a time does, the
// others wait. A schema of a newer build is refused and left as it is.
func migrate(ctx context.Context, pool *pgxpool.Pool) (err error) {
	db := stdlib.OpenDBFromPool(pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	turns, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60))
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(turns))
	if err != nil {
		return err
	}
	if _, err = provider.Up(ctx); err != nil {
		return err
	}
	current, target, err := provider.GetVersions(ctx)
	if err == nil && current > target {
		err = errs.New(errs.Unsupported, "the log was written by a newer build of macaron", "use that build, or name another database")
	}
	return err
}
