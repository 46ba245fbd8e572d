package catalogue

import (
	"context"
	"sync"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/ids"
)

// fresh is how long a process believes what it has read of an owner's policies. Moves that
// it makes itself are seen at once, those of other processes of the database after this.
const fresh = time.Second

// policies are the champions that were read lately.
type policies struct {
	mu      sync.Mutex
	byOwner map[string]served
	changes int64 // counts forget, so that what was read before one is not kept after it
}

type served struct {
	until  time.Time
	byName map[string]adapter.Pointer
}

// maxOwners bounds the owners that are remembered.
const maxOwners = 4096

func (p *policies) forget(owner string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byOwner, owner)
	p.changes++
}

// Champions gives the policy records of an owner that name a revision, by adapter.
func (c *Catalogue) Champions(ctx context.Context, owner string) (map[string]adapter.Pointer, error) {
	now, p := c.Clock.Now(), &c.current
	p.mu.Lock()
	known, ok := p.byOwner[owner]
	changes := p.changes
	p.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.byName, nil
	}
	all, err := c.Store.Pointers(ctx, owner, "")
	if err != nil {
		return nil, err
	}
	s := served{until: now.Add(fresh), byName: map[string]adapter.Pointer{}}
	for _, x := range all {
		if x.Alias == adapter.Champion && x.Revision != "" {
			s.byName[x.Name] = x
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changes == changes {
		if len(p.byOwner) >= maxOwners {
			clear(p.byOwner)
		}
		p.byOwner[owner] = s
	}
	return s.byName, nil
}

// States gives the training states that the policy records and other names of all owners
// link, and those that their moves since a time did.
func (c *Catalogue) States(ctx context.Context, since time.Time) (all []ids.Digest, err error) {
	owners, err := c.Store.Publishers(ctx)
	for _, owner := range owners {
		moves, err := c.Store.MovesSince(ctx, owner, since)
		if err != nil {
			return nil, err
		}
		for _, m := range moves {
			all = append(all, m.Checkpoint, m.Optimizer)
		}
	}
	return all, err
}
