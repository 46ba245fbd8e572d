package sqlite

import (
	"context"

	"macaron/internal/adapter"
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
