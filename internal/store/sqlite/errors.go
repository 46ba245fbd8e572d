package sqlite

import (
	"context"
	"errors"
	"path/filepath"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/record"
)

// coded gives an error of the database its code and says what to do; errors that
// have a code already, and conflicts, pass.
func (s *Store) coded(err error) error {
	var known *errs.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, record.ErrConflict) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return errs.Wrap(errs.Canceled, err, "the request ended before the log answered", "")
	}
	var failed *driver.Error
	if !errors.As(err, &failed) {
		return errs.Wrap(errs.StorageFailed, err, "the log "+s.path+" failed", "look at the log of this process")
	}
	if code := failed.Code() & 0xff; (code == sqlite3.SQLITE_IOERR || code == sqlite3.SQLITE_CANTOPEN) && s.crowded() {
		return errs.Wrap(errs.StorageFull, err, "the log "+s.path+" cannot be used: no space is left", "free space on the disk of MACARON_HOME; reading goes on meanwhile")
	}
	for _, f := range failures {
		if failed.Code()&0xff == f.code {
			return errs.Wrap(f.as, err, "the log "+s.path+" "+f.message, f.next)
		}
	}
	return errs.Wrap(errs.StorageFailed, err, "the log "+s.path+" failed", "check the disk; look at the log of this process")
}

// crowded reports whether so little space is left that it explains a failure: SQLite tells of
// a full disk only where it writes the database, not where it grows, syncs or opens a file.
func (s *Store) crowded() bool {
	free, err := disk.Free(filepath.Dir(s.path))
	return err == nil && free < 64<<10
}

var failures = []struct {
	code          int
	as            errs.Code
	message, next string
}{
	{sqlite3.SQLITE_FULL, errs.StorageFull, "cannot grow: no space is left", "free space on the disk of MACARON_HOME; reading goes on meanwhile"},
	{sqlite3.SQLITE_BUSY, errs.StorageFailed, "is held by another process", "end the other process that uses this file"},
	{sqlite3.SQLITE_LOCKED, errs.StorageFailed, "is held by another connection", "try again"},
	{sqlite3.SQLITE_READONLY, errs.StorageFailed, "cannot be written", "give this user the right to write to MACARON_HOME"},
	{sqlite3.SQLITE_CANTOPEN, errs.StorageFailed, "cannot be opened", "check that MACARON_HOME exists and that this user may write there"},
	{sqlite3.SQLITE_PERM, errs.StorageFailed, "cannot be opened", "give this user the right to write to MACARON_HOME"},
	{sqlite3.SQLITE_CORRUPT, errs.FormatInvalid, "is damaged", "restore it from a backup; check the disk"},
	{sqlite3.SQLITE_NOTADB, errs.FormatInvalid, "is not a database", "name another MACARON_HOME, or move the file away"},
	{sqlite3.SQLITE_IOERR, errs.StorageFailed, "hit an input or output error", "check the disk"},
	{sqlite3.SQLITE_NOMEM, errs.StorageFailed, "ran out of memory", "free memory and start again"},
	{sqlite3.SQLITE_TOOBIG, errs.TooLarge, "cannot take a record this large", "send less at once"},
}
