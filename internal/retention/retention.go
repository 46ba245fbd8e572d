// Package retention deletes conversations: those that a person names, and those that have
// been kept as long as the settings say. A conversation goes with all that was forked from
// it, whole or not at all, and what was deleted stays on the record without its content.
package retention

import (
	"context"
	"time"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// Store is what deletion needs of the log.
type Store interface {
	// Owners lists the tenants that have sessions.
	Owners(ctx context.Context) ([]string, error)
	// Stale lists a tenant's sessions unchanged since a time (zero: all), by id, behind the given one.
	Stale(ctx context.Context, owner string, before time.Time, after string, limit int) ([]string, error)
	// Erase deletes a session and those that build on it; none if one has changed since o.Before.
	Erase(ctx context.Context, owner, session string, o record.Erase) ([]record.Erased, error)
	// Reclaim gives the space of what was deleted back.
	Reclaim(ctx context.Context) error
}

// What names the sessions to delete. At least one of its fields is set.
type What struct {
	Owner   string    // one tenant; "": every one
	Session string    // one session of Owner
	Before  time.Time // those unchanged since; zero: all
}

// Delete deletes and tells what is gone, session by session. It can be called again after
// an error: what is gone is gone.
func Delete(ctx context.Context, s Store, w What, o record.Erase, gone func(record.Erased)) error {
	o.Before = w.Before
	if w.Session != "" {
		all, err := s.Erase(ctx, w.Owner, w.Session, o)
		each(all, gone)
		return finish(ctx, s, o, err)
	}
	owners, err := []string{w.Owner}, error(nil)
	if w.Owner == "" {
		owners, err = s.Owners(ctx)
	}
	for _, owner := range owners {
		if err == nil {
			err = tenant(ctx, s, owner, o, gone)
		}
	}
	return finish(ctx, s, o, err)
}

// page is how many sessions one query lists.
const page = 256

// tenant deletes the sessions of a tenant, as o.Before says. One that is answered just now
// is passed over; a later run finds it.
func tenant(ctx context.Context, s Store, owner string, o record.Erase, gone func(record.Erased)) error {
	last := ""
	seen := map[string]bool{} // a dry run meets a fork again
	for {
		list, err := s.Stale(ctx, owner, o.Before, last, page)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, session := range list {
			last = session
			if seen[session] {
				continue
			}
			all, err := s.Erase(ctx, owner, session, o)
			switch errs.CodeOf(err) {
			case "", errs.NotFound, errs.Overloaded: // NotFound: it went with another one
			default:
				return err
			}
			each(all, func(e record.Erased) {
				if !seen[e.Session] {
					gone(e)
				}
				seen[e.Session] = true
			})
		}
	}
}

func each(all []record.Erased, do func(record.Erased)) {
	for _, e := range all {
		do(e)
	}
}

func finish(ctx context.Context, s Store, o record.Erase, err error) error {
	if err != nil || o.DryRun {
		return err
	}
	return s.Reclaim(ctx)
}

// Policy says how long conversations are kept; 0 is for ever.
type Policy struct {
	Keep    time.Duration
	Tenants map[string]time.Duration // those with a time of their own
}

// Any reports whether the policy ever deletes anything.
func (p Policy) Any() bool {
	for _, keep := range p.Tenants {
		if keep > 0 {
			return true
		}
	}
	return p.Keep > 0
}

// Apply deletes what the policy does not keep any more, and says how many sessions.
func Apply(ctx context.Context, s Store, p Policy, now time.Time) (int, error) {
	if !p.Any() {
		return 0, nil
	}
	owners, err := s.Owners(ctx)
	sessions := 0
	for _, owner := range owners {
		keep, own := p.Tenants[owner]
		if !own {
			keep = p.Keep
		}
		if keep <= 0 || err != nil {
			continue
		}
		o := record.Erase{Why: "kept for " + keep.String(), Time: now, Before: now.Add(-keep)}
		err = tenant(ctx, s, owner, o, func(record.Erased) { sessions++ })
	}
	if sessions > 0 && err == nil {
		err = s.Reclaim(ctx)
	}
	return sessions, err
}
