// Package serve says which release an owner's conversations are served: the champion, or
// while a canary is on trial, the canary for its share of them. A release is one name for a
// contract and the revisions of its adapters, so that both change in one step. Names move by
// compare and swap and are entries of the ledger; docs/formats/ledger.md tells how.
package serve

import (
	"context"
	"crypto/ed25519"
	"errors"
	"sync"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/ids"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mint/catalogue"
	"macaron/internal/record"
	"macaron/internal/registry"
)

// Revisions is what of the catalogue a release needs; *catalogue.Catalogue is one.
type Revisions interface {
	// Dir makes sure that an owner's revision is stored as the engine reads it.
	Dir(ctx context.Context, owner string, h ids.Digest) (string, error)
	Publish(ctx context.Context, owner string, d catalogue.Draft) (adapter.Published, error)
}

// Traffic is what turns of a trial came to, as the log has them.
type Traffic interface {
	// Tried lists turns behind one, in order.
	Tried(ctx context.Context, owner string, trial int64, after string) ([]record.Tried, error)
	TrialRecords(ctx context.Context, owner string, trial, after int64, limit int) ([]record.Record, error)
}

// Options set up Releases. All but Keys and Parse are needed.
type Options struct {
	Ledger    *ledger.Ledger
	Registry  *registry.Registry
	Revisions Revisions
	Traffic   Traffic
	Clock     clock.Clock
	Report    func(error)                      // told of a release that cannot be served here
	Keys      []ed25519.PublicKey              // who must have signed a release's contract; none: nobody
	Parse     func(rule string) (Judge, error) // nil: ParseRule
}

// Releases is safe for concurrent use.
type Releases struct {
	Options

	mu        sync.Mutex
	byOwner   map[string]*state
	changes   int64 // counts forget, so that what was read before one is not kept after it
	snapshots map[ids.Digest]registry.Snapshot
	readings  map[string]*reading // of trials, by owner
}

// New makes Releases.
func New(o Options) *Releases {
	if o.Parse == nil {
		o.Parse = ParseRule
	}
	return &Releases{Options: o, byOwner: map[string]*state{}, snapshots: map[ids.Digest]registry.Snapshot{}, readings: map[string]*reading{}}
}

// fresh is how long a process believes what it has read of an owner's names. Moves that it
// makes itself are seen at once, those of other processes of the database after this.
const fresh = time.Second

// The bounds of what is remembered.
const (
	maxOwners    = 4096
	maxSnapshots = 64
	maxReadings  = 64
)

// state is one owner's names as they were at a time. It is never changed, so that whoever
// has it has a whole.
type state struct {
	until    time.Time
	champion arm
	canary   arm
	alias    ledger.Alias // of the canary
}

// arm is one of the two that conversations are served.
type arm struct {
	release  ids.Digest
	snapshot *registry.Snapshot // nil: the contract's file and the policy records
}

// Current gives what a conversation of an owner is served; nil is the contract's file with
// the policy records. A conversation is named by the session where it began; "" is nobody's,
// and never the canary's. The pair is what the turn's record says of it.
func (r *Releases) Current(ctx context.Context, owner, conversation string) (*registry.Snapshot, *record.Pair, error) {
	s, err := r.state(ctx, owner)
	if err != nil {
		return nil, nil, err
	}
	at, pair := s.champion, &record.Pair{Release: s.champion.release}
	if s.alias.Release != "" && conversation != "" {
		pair.Trial, pair.Arm = s.alias.Version, record.ArmChampion
		if Drawn(s.alias, conversation) {
			at = s.canary
			pair.Release, pair.Arm = at.release, record.ArmCanary
		}
	}
	if *pair == (record.Pair{}) {
		pair = nil
	}
	return at.snapshot, pair, nil
}

func (r *Releases) state(ctx context.Context, owner string) (*state, error) {
	now := r.Clock.Now()
	r.mu.Lock()
	known, changes := r.byOwner[owner], r.changes
	r.mu.Unlock()
	if known != nil && now.Before(known.until) {
		return known, nil
	}
	next, err := r.read(ctx, owner)
	if err != nil {
		if known == nil {
			return nil, err
		}
		r.Report(err) // what was in force stays
		again := *known
		next = &again
	}
	next.until = now.Add(fresh)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changes == changes {
		if len(r.byOwner) >= maxOwners {
			clear(r.byOwner)
		}
		r.byOwner[owner] = next
	}
	return next, nil
}

func (r *Releases) forget(owner string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byOwner, owner)
	r.changes++
}

// read makes the state of where an owner's names stand now. They come from one statement,
// so that they fit each other.
func (r *Releases) read(ctx context.Context, owner string) (*state, error) {
	all, err := r.Ledger.Store.Aliases(ctx, owner)
	if err != nil {
		return nil, err
	}
	s := &state{}
	for _, a := range all {
		if a.Release == "" || a.Name == ledger.Previous {
			continue
		}
		snapshot, err := r.Snapshot(ctx, owner, a.Release)
		if errors.Is(err, errPlanted) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if a.Name == ledger.Champion {
			s.champion = arm{a.Release, &snapshot}
		} else {
			s.canary, s.alias = arm{a.Release, &snapshot}, a
		}
	}
	return s, nil
}

// Contract gives the contract of a release's harness, from this home or from beside the
// ledger, whence it comes into this home.
func (r *Releases) contract(ctx context.Context, owner string, h ids.Digest) (*contract.Contract, error) {
	if k, err := r.Registry.Contract(h); err == nil {
		return k, nil
	}
	text, err := r.Ledger.Store.KeptText(ctx, owner, ledger.ContractText, h)
	if err != nil {
		return nil, err
	}
	k, err := whole(h, text)
	if err == nil {
		err = r.Registry.Keep(k, []byte(text))
	}
	return k, err
}
