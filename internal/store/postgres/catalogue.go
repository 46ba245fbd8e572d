package postgres

import (
	"context"

	"macaron/internal/adapter"
	"macaron/internal/store/logsql"
)

// catalogued writes to an owner's catalogue in a transaction that has it to itself among
// all processes.
func (s *Store) catalogued(ctx context.Context, owner string, apply func(context.Context, writer) error) error {
	return s.transact(ctx, []int64{key(owner, "catalogue")}, apply)
}

// AddRevisions enters revisions in the catalogue, with the texts of their recipes, in one
// commit. One that is there already stays as it is, and is kept from collection, as are
// parents ancestors of each.
func (s *Store) AddRevisions(ctx context.Context, owner string, all []adapter.Published, recipes []string, parents int) error {
	return s.catalogued(ctx, owner, func(ctx context.Context, db writer) error {
		return logsql.AddRevisions(ctx, db, owner, all, recipes, parents)
	})
}

// MovePointers makes all moves or none. Each has the version that it is to become; where
// that is not the next one it fails with record.ErrConflict.
func (s *Store) MovePointers(ctx context.Context, owner string, moves []adapter.Pointer, parents int) error {
	return s.catalogued(ctx, owner, func(ctx context.Context, db writer) error {
		return logsql.MovePointers(ctx, db, owner, moves, parents)
	})
}

// HoldRevision keeps a revision from collection until a time.
func (s *Store) HoldRevision(ctx context.Context, h adapter.Hold) error {
	return s.catalogued(ctx, h.Owner, func(ctx context.Context, db writer) error { return logsql.HoldRevision(ctx, db, h) })
}

// LetRevision ends a hold.
func (s *Store) LetRevision(ctx context.Context, h adapter.Hold) error {
	return s.catalogued(ctx, h.Owner, func(ctx context.Context, db writer) error { return logsql.LetRevision(ctx, db, h) })
}
