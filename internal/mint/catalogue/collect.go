package catalogue

import (
	"context"
	"slices"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Collectable is what a collection needs of the store.
type Collectable interface {
	Publishers(ctx context.Context) ([]string, error)
	Aged(ctx context.Context, owner string, after int64, limit int) ([]adapter.Aged, error)
	ParentOf(ctx context.Context, owner string, hash ids.Digest) (ids.Digest, error)
	MovesSince(ctx context.Context, owner string, since time.Time) ([]adapter.Pointer, error)
	HeldRevisions(ctx context.Context, owner string, now time.Time) ([]ids.Digest, error)
	LoggedRevisions(ctx context.Context) (map[string][]ids.Digest, error)
	CondemnRevisions(ctx context.Context, owner string, all []ids.Digest, now time.Time) error
	ReprieveRevisions(ctx context.Context, owner string, all []ids.Digest) error
	RemoveRevisions(ctx context.Context, owner string, all []ids.Digest, before time.Time) ([]ids.Digest, error)
	ShardUse(ctx context.Context) (map[string]int64, error)
	InShard(ctx context.Context, shard string, limit int) ([]adapter.Numbered, error)
	MoveRevision(ctx context.Context, p adapter.Published, to adapter.Place) error
}

// Collection says what a collection keeps.
type Collection struct {
	// Retention is how long a move of a pointer keeps the revision that it came to.
	Retention time.Duration
	// Grace is how long a revision stays after it was published, and after it was found
	// that nothing reaches it. It is longer than the longest time between reading a name
	// and being on record as its user.
	Grace time.Duration
	// Roots are revisions that something outside of the store reaches, of all owners: those of
	// contracts in force, and of samplers that are open. nil: there are none.
	Roots  func(ctx context.Context) ([]ids.Digest, error)
	DryRun bool
}

// Collected is what a collection did.
type Collected struct {
	Revisions int   `json:"revisions"` // that were looked at
	Reached   int   `json:"reached"`   // of these, or too young to be judged
	Condemned int   `json:"condemned"` // that nothing reaches, and that wait
	Reprieved int   `json:"reprieved"` // that waited, and that something reaches again
	Removed   int   `json:"removed"`   // that had waited long enough
	Shards    int   `json:"shards"`    // that were removed
	Bytes     int64 `json:"bytes"`     // of these
	Moved     int   `json:"moved"`     // revisions out of shards that are mostly empty
}

// pageOfAged is how many revisions are looked at at once.
const pageOfAged = 4096

// Collect removes what nothing reaches. It has two phases that are one grace apart: what
// nothing reaches is condemned, and what a later collection still finds so is removed. A name
// that comes to a condemned revision takes that back in the commit that moves it.
func (c *Catalogue) Collect(ctx context.Context, k Collection) (Collected, error) {
	if k.Grace < 0 || k.Retention < k.Grace {
		return Collected{}, errs.New(errs.InvalidRequest, "the retention is shorter than the grace", "give a retention of at least "+k.Grace.String())
	}
	c.waste.Lock()
	defer c.waste.Unlock()
	s := sweep{Catalogue: c, Collection: k, now: c.Clock.Now().UTC(), always: map[ids.Digest]bool{}}
	if err := s.prepare(ctx); err != nil {
		return s.did, err
	}
	for _, owner := range s.owners {
		if err := s.owner(ctx, owner); err != nil {
			return s.did, err
		}
	}
	if k.DryRun {
		return s.did, nil
	}
	return s.did, s.reclaim(ctx)
}

// sweep is one collection.
type sweep struct {
	*Catalogue
	Collection
	now    time.Time
	owners []string
	logged map[string][]ids.Digest
	always map[ids.Digest]bool // reached from outside of the catalogue, whoever's they are
	did    Collected
}

func (s *sweep) prepare(ctx context.Context) (err error) {
	if s.owners, err = s.Store.Publishers(ctx); err != nil {
		return err
	}
	if s.logged, err = s.Store.LoggedRevisions(ctx); err != nil || s.Roots == nil {
		return err
	}
	outside, err := s.Roots(ctx)
	for _, d := range outside {
		s.always[d] = true
	}
	return err
}

// reached marks all that an owner's names, log and readers reach.
func (s *sweep) reached(ctx context.Context, owner string) (map[ids.Digest]bool, error) {
	roots := slices.Clone(s.logged[owner])
	for d := range s.always {
		roots = append(roots, d)
	}
	moves, err := s.Store.MovesSince(ctx, owner, s.now.Add(-s.Retention))
	if err != nil {
		return nil, err
	}
	for _, m := range moves {
		roots = append(append(roots, m.Revision), m.Exported...)
	}
	held, err := s.Store.HeldRevisions(ctx, owner, s.now)
	if err != nil {
		return nil, err
	}
	marked := map[ids.Digest]bool{}
	for _, d := range append(roots, held...) {
		if err := s.mark(ctx, owner, d, marked); err != nil {
			return nil, err
		}
	}
	return marked, nil
}

// mark reaches a revision and as many of its ancestors as are kept.
func (s *sweep) mark(ctx context.Context, owner string, d ids.Digest, marked map[ids.Digest]bool) (err error) {
	for n := 0; n <= s.Parents && d != ""; n++ {
		marked[d] = true
		if d, err = s.Store.ParentOf(ctx, owner, d); err != nil {
			return err
		}
	}
	return nil
}

// owner collects what one owner has.
func (s *sweep) owner(ctx context.Context, owner string) error {
	marked, err := s.reached(ctx, owner)
	if err != nil {
		return err
	}
	if err := s.each(ctx, owner, func(a adapter.Aged) error { // the young reach their parents
		if a.Parent == "" || !s.young(a) || s.Parents == 0 {
			return nil
		}
		return s.mark(ctx, owner, a.Hash, marked)
	}); err != nil {
		return err
	}
	var condemn, reprieve, remove []ids.Digest
	err = s.each(ctx, owner, func(a adapter.Aged) error {
		s.did.Revisions++
		switch kept := marked[a.Hash] || s.young(a); {
		case kept && !a.Condemned.IsZero():
			reprieve = append(reprieve, a.Hash)
			s.did.Reached++
		case kept:
			s.did.Reached++
		case a.Condemned.IsZero():
			condemn = append(condemn, a.Hash)
		case !a.Condemned.After(s.now.Add(-s.Grace)):
			remove = append(remove, a.Hash)
		default:
			s.did.Condemned++
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.did.Condemned += len(condemn)
	s.did.Reprieved += len(reprieve)
	if s.DryRun {
		s.did.Removed += len(remove)
		return nil
	}
	return s.carryOut(ctx, owner, condemn, reprieve, remove)
}

func (s *sweep) young(a adapter.Aged) bool { return a.Created.After(s.now.Add(-s.Grace)) }

// each calls for every revision of an owner.
func (s *sweep) each(ctx context.Context, owner string, do func(adapter.Aged) error) error {
	for last := int64(0); ; {
		page, err := s.Store.Aged(ctx, owner, last, pageOfAged)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, a := range page {
			if err := do(a); err != nil {
				return err
			}
		}
		last = page[len(page)-1].Seq
	}
}

// atOnce is how many revisions one commit changes.
const atOnce = 1000

func (s *sweep) carryOut(ctx context.Context, owner string, condemn, reprieve, remove []ids.Digest) error {
	for part := range slices.Chunk(reprieve, atOnce) {
		if err := s.Store.ReprieveRevisions(ctx, owner, part); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(condemn, atOnce) {
		if err := s.Store.CondemnRevisions(ctx, owner, part, s.now); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(remove, atOnce) {
		gone, err := s.Store.RemoveRevisions(ctx, owner, part, s.now.Add(-s.Grace))
		if err != nil {
			return err
		}
		for _, d := range gone {
			s.did.Removed++
			if err := s.dirs.Remove(d, func() (bool, error) { return s.wanted(ctx, d) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// wanted tells whether anybody still wants the directory of a revision that one owner has
// lost.
func (s *sweep) wanted(ctx context.Context, d ids.Digest) (bool, error) {
	if s.always[d] {
		return true, nil
	}
	for _, all := range s.logged {
		if slices.Contains(all, d) {
			return true, nil
		}
	}
	now, err := s.Store.Publishers(ctx)
	if err != nil {
		return false, err
	}
	for _, owner := range now {
		_, err := s.Store.PublishedRevision(ctx, owner, d)
		if errs.CodeOf(err) != errs.NotFound {
			return err == nil, err
		}
	}
	return false, nil
}
