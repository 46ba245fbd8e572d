package sqlite

import (
	"database/sql"

	"macaron/internal/disk"
)

// Beside opens a database of another purpose, with its own schema, in this store's way: a file
// for this user alone, in WAL mode, one connection.
func Beside(path string) (*sql.DB, error) {
	if err := private(path); err != nil {
		return nil, disk.Error(err, path+" cannot be opened")
	}
	db, err := sql.Open("sqlite", dsn(path, "journal_mode(WAL)", "synchronous(NORMAL)"))
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}
