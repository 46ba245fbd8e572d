// Package logsql is the SQL of the record log that its stores share: how a batch
// becomes rows, what follows from a record, and how rows are read back. Statements
// are written in what SQLite and Postgres have in common ($1, ON CONFLICT, recursive
// queries); a store brings the connection, the transaction and the codes of errors.
package logsql

import "context"

// Row is one row of a result.
type Row interface{ Scan(dest ...any) error }

// Reader runs a query and calls each for its rows, in order. The errors it gives
// have their codes.
type Reader interface {
	Query(ctx context.Context, each func(Row) error, query string, args ...any) error
}

// Writer is a Reader inside a transaction that also writes. Exec tells how many
// rows a statement met.
type Writer interface {
	Reader
	Exec(ctx context.Context, query string, args ...any) (int64, error)
}

// Numbering is a Writer that tells the number of the row that was inserted last.
type Numbering interface{ Inserted() int64 }

// list runs a query and scans each row.
func list[T any](ctx context.Context, db Reader, scan func(Row) (T, error), query string, args ...any) (all []T, err error) {
	err = db.Query(ctx, func(r Row) error {
		v, err := scan(r)
		all = append(all, v)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}
