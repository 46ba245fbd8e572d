// Package catalogue keeps the immutable revisions of adapters, with where each comes from,
// and the movable names that say which of them is served. Small revisions are packed into
// shards, each a file of many with an index in the store; large ones are directories. What
// nothing reaches is collected. docs/formats/catalogue.md has the format.
package catalogue

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/registry"
)

// Store is the part of the database that the catalogue lives in.
type Store interface {
	AddRevisions(ctx context.Context, owner string, all []adapter.Published, recipes []string, parents int) error
	PublishedRevision(ctx context.Context, owner string, hash ids.Digest) (adapter.Published, error)
	PublishedRevisions(ctx context.Context, owner string, s adapter.Search) ([]adapter.Numbered, error)
	RevisionsByPrefix(ctx context.Context, owner, prefix string, limit int) ([]ids.Digest, error)
	RecipeText(ctx context.Context, owner string, hash ids.Digest) (string, error)
	MovePointers(ctx context.Context, owner string, moves []adapter.Pointer, parents int) error
	Pointers(ctx context.Context, owner, name string) ([]adapter.Pointer, error)
	Moves(ctx context.Context, owner, name, alias string, limit int) ([]adapter.Pointer, error)
	OwnsState(ctx context.Context, owner string, d ids.Digest) (bool, error)
	HoldRevision(ctx context.Context, h adapter.Hold) error
	LetRevision(ctx context.Context, h adapter.Hold) error
	Collectable
}

// Options set up a Catalogue. Home, Store and Clock are needed.
type Options struct {
	Home    string
	Store   Store
	Clock   clock.Clock
	Parents int // how many ancestors of what is reached are kept from collection
	// State tells whether this home has training state, and keeps it from collection for
	// long enough to be named by a policy record. nil: it has none.
	State func(ids.Digest) bool
}

// DefaultParents is how many ancestors of what is reached are kept where nothing else is said.
const DefaultParents = 8

// Catalogue is safe for concurrent use.
type Catalogue struct {
	Options
	dirs    *registry.Directories
	waste   sync.Mutex // one collection at a time
	shards  *shards
	current policies
}

// Open opens the catalogue of a home.
func Open(o Options) (*Catalogue, error) {
	dirs, err := registry.OpenDirectories(o.Home)
	if err != nil {
		return nil, err
	}
	s, err := openShards(o.Home)
	if err != nil {
		return nil, errors.Join(err, dirs.Close())
	}
	return &Catalogue{Options: o, dirs: dirs, shards: s, current: policies{byOwner: map[string]served{}}}, nil
}

// Close closes the files.
func (c *Catalogue) Close() error { return errors.Join(c.shards.close(), c.dirs.Close()) }

// Revision gives an owner's revision.
func (c *Catalogue) Revision(ctx context.Context, owner string, hash ids.Digest) (adapter.Published, error) {
	return c.Store.PublishedRevision(ctx, owner, hash)
}

// Revisions lists an owner's revisions, the newest first.
func (c *Catalogue) Revisions(ctx context.Context, owner string, s adapter.Search) ([]adapter.Numbered, error) {
	return c.Store.PublishedRevisions(ctx, owner, s)
}

// Recipe gives the text of a recipe by its digest.
func (c *Catalogue) Recipe(ctx context.Context, owner string, hash ids.Digest) (string, error) {
	return c.Store.RecipeText(ctx, owner, hash)
}

// Lineage gives a revision and its ancestors, at most limit, the youngest first. One that is
// not in the catalogue ends it.
func (c *Catalogue) Lineage(ctx context.Context, owner string, hash ids.Digest, limit int) ([]adapter.Published, error) {
	var line []adapter.Published
	for hash != "" && len(line) < limit {
		p, err := c.Store.PublishedRevision(ctx, owner, hash)
		if errs.CodeOf(err) == errs.NotFound && len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
		line = append(line, p)
		hash = p.Parent
	}
	return line, nil
}

// Hold keeps a revision from collection for a time, whatever becomes of the names that
// reach it; let ends that earlier.
func (c *Catalogue) Hold(ctx context.Context, owner string, hash ids.Digest, holder string, length time.Duration) (let func(context.Context) error, err error) {
	h := adapter.Hold{Owner: owner, Revision: hash, Holder: holder, Until: c.Clock.Now().Add(length)}
	return func(ctx context.Context) error { return c.Store.LetRevision(ctx, h) }, c.Store.HoldRevision(ctx, h)
}

// Find gives the one revision of an owner whose hash begins with some hex digits, at least 6,
// with or without "sha256:" before them.
func (c *Catalogue) Find(ctx context.Context, owner, text string) (ids.Digest, error) {
	if d, err := ids.ParseDigest(text); err == nil {
		return d, nil
	}
	digits := strings.TrimPrefix(text, "sha256:")
	if len(digits) < 6 || len(digits) > 64 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", errs.New(errs.InvalidRequest, "not a revision: "+errs.Clip(text), "give its hash, or the first 6 or more digits of it, or NAME@ALIAS")
	}
	found, err := c.Store.RevisionsByPrefix(ctx, owner, "sha256:"+digits, 2)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", errs.New(errs.NotFound, "no revision begins with "+digits, "`macaron mint revisions` lists yours")
	case len(found) > 1:
		return "", errs.New(errs.InvalidRequest, "several revisions begin with "+digits, "give more digits")
	}
	return found[0], nil
}
