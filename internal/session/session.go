// Package session keeps conversations in the append-only log and finds them again.
// It folds records into turns, recovers the place of a request by the content of
// its messages, and opens, continues and closes turns. The owner is part of every
// call that reaches the store. docs/formats/log.md has the records and the rules.
package session

import (
	"context"
	"time"

	"macaron/internal/clock"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// Store is the log as this room uses it. Every implementation passes
// internal/store/storetest. What Append returned nil for is durable, and visible
// to every later call.
type Store interface {
	Append(ctx context.Context, b record.Batch) error
	// LastChain gives the index of the last of these hashes that has entries in an owner's
	// scope, -1 if none has, and the entries: those of the given session first, then newest
	// first, at most limit.
	LastChain(ctx context.Context, owner, scope, session string, hashes [][32]byte, limit int) (int, []record.Chain, error)
	// Calls gives the turns that a tool call id belongs to, newest first, at most limit.
	Calls(ctx context.Context, owner, scope, id string, limit int) ([]record.Call, error)
	// Turn tells how a turn stands; errs.NotFound when the owner has none of that id.
	Turn(ctx context.Context, owner, turn string) (record.TurnState, error)
	// Locate gives the turn of the first of an owner's records, among those with ids from from
	// to to, that belongs to a request or is a hop of that id; "" if there is none.
	Locate(ctx context.Context, owner, from, to, id string) (string, error)
	// Children gives the turns whose parent this is.
	Children(ctx context.Context, owner, turn string) ([]record.TurnState, error)
	// Lineage gives the records of a turn and of its ancestors, at most depth turns, by Seq, without blobs.
	Lineage(ctx context.Context, owner, turn string, depth int) ([]record.Record, error)
	// After gives the records of an owner's sessions behind the given marks, by Seq, without
	// blobs, at most limit.
	After(ctx context.Context, owner string, marks []record.Mark, limit int) ([]record.Record, error)
	// Session tells how a session stands; errs.NotFound when the owner has none of that id.
	Session(ctx context.Context, owner, session string) (record.SessionState, error)
	// Sessions lists an owner's sessions by last change, newest first, those changed before the given time.
	Sessions(ctx context.Context, owner string, before time.Time, limit int) ([]record.SessionState, error)
	// Records gives a session's records by Seq, those after the given one, at most limit.
	Records(ctx context.Context, owner, session string, after int64, limit int) ([]record.Record, error)
	// Open lists the turns of all owners with status open, at most limit, but those that another
	// living process serves.
	Open(ctx context.Context, limit int) ([]record.TurnState, error)
	// Lost lists the open turns whose process ended while this one runs, at most limit.
	Lost(ctx context.Context, limit int) ([]record.TurnState, error)
	// Lease takes up to limit queued summaries that nobody holds at now, until the given time.
	Lease(ctx context.Context, now, until time.Time, limit int) ([]record.Task, error)
	// Release gives a lease back, to be taken again at the given time.
	Release(ctx context.Context, owner, turn string, again time.Time) error
	// ReleaseAll ends every lease and wait but those of other living processes.
	ReleaseAll(ctx context.Context) error
}

// Options sets up a Log.
type Options struct {
	Clock    clock.Clock // nil: the machine's
	IDs      *ids.Source // nil: from Clock and crypto/rand
	MaxTurns int         // of one conversation; 0 means 4096
	Keep     int         // bytes of conversations kept in memory; 0 means 32 MiB
}

// Log is the sessions of all owners on one store. Safe for concurrent use.
type Log struct {
	store    Store
	clock    clock.Clock
	ids      *ids.Source
	maxTurns int
	lines    *lines
}

// New makes a Log on a store.
func New(store Store, o Options) *Log {
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.IDs == nil {
		o.IDs = ids.NewSource(o.Clock, nil)
	}
	if o.MaxTurns <= 0 {
		o.MaxTurns = 4096
	}
	if o.Keep <= 0 {
		o.Keep = 32 << 20
	}
	return &Log{store: store, clock: o.Clock, ids: o.IDs, maxTurns: o.MaxTurns, lines: newLines(o.Keep)}
}
