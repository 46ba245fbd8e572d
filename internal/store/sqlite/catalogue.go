package sqlite

import (
	"context"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/ids"
	"macaron/internal/store/logsql"
)

// AddRevisions enters revisions in the catalogue, with the texts of their recipes, in one
// commit. One that is there already stays as it is, and is kept from collection, as are
// parents ancestors of each.
func (s *Store) AddRevisions(ctx context.Context, owner string, all []adapter.Published, recipes []string, parents int) error {
	return s.do(ctx, "", func(ctx context.Context, db logsql.Writer) error {
		return logsql.AddRevisions(ctx, db, owner, all, recipes, parents)
	})
}

// MovePointers makes all moves or none. Each has the version that it is to become; where
// that is not the next one it fails with record.ErrConflict.
func (s *Store) MovePointers(ctx context.Context, owner string, moves []adapter.Pointer, parents int) error {
	return s.do(ctx, "", func(ctx context.Context, db logsql.Writer) error {
		return logsql.MovePointers(ctx, db, owner, moves, parents)
	})
}

// HoldRevision keeps a revision from collection until a time.
func (s *Store) HoldRevision(ctx context.Context, h adapter.Hold) error {
	return s.do(ctx, "", func(ctx context.Context, db logsql.Writer) error { return logsql.HoldRevision(ctx, db, h) })
}

// LetRevision ends a hold.
func (s *Store) LetRevision(ctx context.Context, h adapter.Hold) error {
	return s.do(ctx, "", func(ctx context.Context, db logsql.Writer) error { return logsql.LetRevision(ctx, db, h) })
}

// CondemnRevisions notes when it was found that nothing reaches revisions.
func (s *Store) CondemnRevisions(ctx context.Context, owner string, all []ids.Digest, now time.Time) error {
	return s.do(ctx, "", func(ctx context.Context, db logsql.Writer) error {
		return logsql.CondemnRevisions(ctx, db, owner, all, now)
	})
}

// ReprieveRevisions takes condemnations back.
func (s *Store) ReprieveRevisions(ctx context.Context, owner string, all []ids.Digest) error {
	return s.do(ctx, "", func(ctx context.Context, db logsql.Writer) error {
		return logsql.ReprieveRevisions(ctx, db, owner, all)
	})
}

// RemoveRevisions takes revisions out of the catalogue that were condemned up to a time and
// are still, and tells which.
func (s *Store) RemoveRevisions(ctx context.Context, owner string, all []ids.Digest, before time.Time) (gone []ids.Digest, err error) {
	err = s.do(ctx, "", func(ctx context.Context, db logsql.Writer) (err error) {
		gone, err = logsql.RemoveRevisions(ctx, db, owner, all, before)
		return err
	})
	return gone, err
}

// MoveRevision notes that the bytes of a revision are elsewhere now.
func (s *Store) MoveRevision(ctx context.Context, p adapter.Published, to adapter.Place) error {
	return s.do(ctx, "", func(ctx context.Context, db logsql.Writer) error { return logsql.MoveRevision(ctx, db, p, to) })
}
