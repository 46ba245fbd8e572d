package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// collided reports whether the transaction was undone because it met another one and
// may be tried again as it is.
func collided(err error) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && (failed.Code == "40001" || failed.Code == "40P01") // serialization failure, deadlock
}

// coded gives an error of the database its code and says what to do; errors that
// have a code already, and conflicts, pass.
func (s *Store) coded(err error) error {
	var known *errs.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, record.ErrConflict) || errors.Is(err, errGrew) {
		return err
	}
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		for _, f := range failures {
			if strings.HasPrefix(failed.Code, f.state) {
				return errs.Wrap(f.as, err, "the database "+s.name+" "+f.message, f.next)
			}
		}
		return errs.Wrap(errs.StorageFailed, err, "the database "+s.name+" failed", "look at the log of this process and of the database")
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return errs.Wrap(errs.Canceled, err, "the request ended before the log answered", "")
	}
	return errs.Wrap(errs.StorageFailed, err, "the database "+s.name+" cannot be reached", "check that it runs and that store names it")
}

// failures go by SQLSTATE, whole or its class; the first that fits counts.
var failures = []struct {
	state         string
	as            errs.Code
	message, next string
}{
	{"53100", errs.StorageFull, "cannot grow: no space is left", "free space on the database's disk; reading goes on meanwhile"},
	{"53", errs.StorageFailed, "is out of resources", "raise max_connections or lower pool_max_conns in the URL"},
	{"28", errs.StorageFailed, "refuses the user or password", "correct store, or the file that store_password_file names"},
	{"3D", errs.StorageFailed, "does not exist", "create it: createdb NAME"},
	{"42501", errs.StorageFailed, "forbids this user what it needs", "make the user the owner of the database"},
	{"25006", errs.StorageFailed, "is read-only", "name the primary, not a replica"},
	{"57", errs.StorageFailed, "is shutting down or starting", "wait, then try again"},
	{"08", errs.StorageFailed, "lost the connection", "check the network; try again"},
	{"XX", errs.FormatInvalid, "is damaged", "restore it from a backup; check the disk"},
}
