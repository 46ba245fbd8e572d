package ledger

import (
	"context"
	"maps"
	"slices"

	"macaron/internal/ids"
)

// Reigns are the champions of a ledger, one upon the other: the contract's file ("") lies below the
// first, each promotion lies upon what was champion then, and a move back takes off what lay above.
type Reigns struct {
	Now     ids.Digest // the champion
	Version int64      // counts its moves

	below []ids.Digest        // the one right below the champion last
	back  map[ids.Digest]bool // releases that had to give their place back
}

// Take goes on with the next move of the champion. One to what Below says is a move back, by
// whichever command: what was champion until then is not gone back to, unless it is promoted anew.
func (r *Reigns) Take(m Moved) {
	if r.back == nil {
		r.back = map[ids.Digest]bool{}
	}
	i := r.place()
	switch {
	case m.To == r.Now:
	case i >= 0 && r.below[i] == m.To:
		r.back[r.Now] = r.Now != "" // the file is what there always is
		r.below = r.below[:i]
	default:
		r.below = append(r.below, r.Now)
	}
	delete(r.back, m.To)
	r.Now, r.Version = m.To, m.Version
}

// place is that of what a rollback goes to; -1: there is nothing.
func (r *Reigns) place() int {
	for i := len(r.below) - 1; i >= 0; i-- {
		if x := r.below[i]; x != r.Now && !r.back[x] {
			return i
		}
	}
	return -1
}

// Below is what a rollback goes to: what was champion before, of which none had to give its place
// back. False: nothing is left, and the contract's file is served.
func (r *Reigns) Below() (ids.Digest, bool) {
	if i := r.place(); i >= 0 {
		return r.below[i], true
	}
	return "", false
}

// After is what Below would say once a release is champion; "": the contract's file, or nothing.
func (r *Reigns) After(champion ids.Digest) ids.Digest {
	next := Reigns{Now: r.Now, below: slices.Clone(r.below), back: maps.Clone(r.back)}
	next.Take(Moved{To: champion})
	below, _ := next.Below()
	return below
}

// Stands checks that the champion's alias is where the ledger has moved it.
func (r *Reigns) Stands(champion Alias) error {
	if champion.Version == r.Version && champion.Release == r.Now {
		return nil
	}
	return stray(champion, r.Now, r.Version)
}

// Reigns reads the champions of an owner's ledger. A move that was changed since it was written is
// errs.ChecksumMismatch; that none is missing, a Chain tells.
func (l *Ledger) Reigns(ctx context.Context, owner string) (*Reigns, error) {
	all, err := l.All(ctx, owner, "")
	if err != nil {
		return nil, err
	}
	r := &Reigns{}
	for _, e := range all {
		if e.Kind != KindAlias {
			continue
		}
		if err := e.Sound(); err != nil {
			return nil, err
		}
		b, err := e.Decode()
		if err != nil {
			return nil, err
		}
		if m, ok := b.(Moved); ok && m.Alias == Champion {
			r.Take(m)
		}
	}
	return r, nil
}
