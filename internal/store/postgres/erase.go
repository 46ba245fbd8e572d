package postgres

import (
	"context"
	"errors"
	"slices"

	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/store/logsql"
)

// errGrew says that a family got another member before it was locked.
var errGrew = errors.New("a session was forked meanwhile")

// Erase deletes a session and those that build on it, all or nothing, and tells what is
// gone. With o.Before, nothing goes if any of them has changed since.
func (s *Store) Erase(ctx context.Context, owner, session string, o record.Erase) (gone []record.Erased, err error) {
	for range tries {
		family, err := logsql.Family(ctx, reader{s}, owner, session)
		if err == nil && len(family) == 0 {
			err = errs.New(errs.NotFound, "there is no such session", "list the sessions of this tenant to see what there is")
		}
		if err != nil {
			return nil, err
		}
		gone, err = s.eraseFamily(ctx, owner, session, family, o)
		if !errors.Is(err, errGrew) {
			return gone, err
		}
	}
	return nil, errs.New(errs.Overloaded, "the session is being forked", "try again")
}

func (s *Store) eraseFamily(ctx context.Context, owner, session string, family []string, o record.Erase) (gone []record.Erased, err error) {
	var locks []int64
	for _, member := range family {
		locks = append(locks, key(owner, member))
	}
	slices.Sort(locks)
	err = s.transact(ctx, slices.Compact(locks), func(ctx context.Context, db writer) error {
		// Whoever opens a turn behind one of these holds that one until it has committed.
		if _, err := db.Exec(ctx, `SELECT 1 FROM turns WHERE owner = $1 AND session = ANY($2) ORDER BY id FOR UPDATE`, owner, family); err != nil {
			return err
		}
		now, err := logsql.Family(ctx, db, owner, session)
		if err != nil {
			return err
		}
		if !slices.Equal(now, family) {
			return errGrew
		}
		gone, err = logsql.EraseFamily(ctx, db, owner, family, o, nil)
		return err
	})
	return gone, err
}

// Reclaim has nothing to do: Postgres vacuums by itself.
func (s *Store) Reclaim(context.Context) error { return nil }
