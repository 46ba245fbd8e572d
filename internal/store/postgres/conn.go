package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"macaron/internal/store/logsql"
)

// reader is the pool as logsql uses it.
type reader struct{ *Store }

func (r reader) Query(ctx context.Context, each func(logsql.Row) error, query string, args ...any) error {
	rows, err := r.pool.Query(ctx, query, escaped(args)...)
	return r.coded(drain(rows, err, each))
}

// writer is a transaction as logsql uses it.
type writer struct {
	*Store
	tx pgx.Tx
}

func (w writer) Query(ctx context.Context, each func(logsql.Row) error, query string, args ...any) error {
	rows, err := w.tx.Query(ctx, query, escaped(args)...)
	return drain(rows, err, each)
}

func (w writer) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := w.tx.Exec(ctx, query, escaped(args)...)
	return tag.RowsAffected(), err
}

// drain calls each for every row of a result and closes it.
func drain(rows pgx.Rows, err error, each func(logsql.Row) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(row{rows}); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Postgres keeps no NUL in a text, and what people send may hold one. It is written
// as escape 0, and the escape itself as escape 1.
const escape = "\x1b"

var (
	escaper   = strings.NewReplacer("\x00", escape+"0", escape, escape+"1")
	unescaper = strings.NewReplacer(escape+"0", "\x00", escape+"1", escape)
)

func escaped(args []any) []any {
	for i, a := range args {
		if s, ok := a.(string); ok && strings.ContainsAny(s, "\x00"+escape) {
			args[i] = escaper.Replace(s)
		}
	}
	return args
}

// row undoes what escaped did.
type row struct{ pgx.Rows }

func (r row) Scan(dest ...any) error {
	if err := r.Rows.Scan(dest...); err != nil {
		return err
	}
	for _, d := range dest {
		if s, ok := d.(*string); ok && strings.Contains(*s, escape) {
			*s = unescaper.Replace(*s)
		}
	}
	return nil
}
