// Package ledger is the account of the loop that improves a pair of adapters and contract:
// what was proposed, what was measured, what the evaluator decided and which release was
// served when. It is append-only, and each entry names the hash of the one before, so that
// nothing of it can be changed, dropped or put elsewhere without being found. It has no rows
// of its own: a store keeps them, beside the record log. docs/formats/ledger.md has the form.
package ledger

import (
	"context"
	"encoding/json"
	"time"

	"macaron/internal/canonical"
	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Schema names the form of an entry, and is part of what is hashed.
const Schema = "macaron.ledger/1"

// Entry is one line of an owner's ledger.
type Entry struct {
	Owner string          `json:"owner"`
	Seq   int64           `json:"seq"`           // in the owner's ledger, from 1
	Run   string          `json:"run,omitempty"` // of the loop that wrote it; "": a person or the proxy did
	Place int64           `json:"place"`         // among the entries of its run, from 1
	Key   string          `json:"key"`           // names it within its run: a step done again adds nothing
	Kind  Kind            `json:"kind"`
	At    time.Time       `json:"at"`
	Prev  ids.Digest      `json:"prev"` // hash of the entry before; "" of the first
	Body  json.RawMessage `json:"body"` // canonical JSON of the kind
	Hash  ids.Digest      `json:"hash"`
}

// Draft is an entry that is to be written.
type Draft struct {
	Run, Key string
	Body     Body
}

// Head is where an owner's ledger ends; zero for an empty one.
type Head struct {
	Seq  int64      `json:"seq"`
	Hash ids.Digest `json:"hash"`
}

// Seal makes the entry that stands behind head: place is its number in its run.
func Seal(head Head, place int64, e Entry) (Entry, error) {
	e.Seq, e.Place, e.Prev = head.Seq+1, place, head.Hash
	h, err := e.hash()
	e.Hash = h
	return e, err
}

// hash is that of everything but the hash.
func (e Entry) hash() (ids.Digest, error) {
	e.At = e.At.UTC()
	return canonical.Hash(struct {
		Schema string          `json:"schema"`
		Owner  string          `json:"owner"`
		Seq    int64           `json:"seq"`
		Run    string          `json:"run"`
		Place  int64           `json:"place"`
		Key    string          `json:"key"`
		Kind   Kind            `json:"kind"`
		At     time.Time       `json:"at"`
		Prev   ids.Digest      `json:"prev"`
		Body   json.RawMessage `json:"body"`
	}{Schema, e.Owner, e.Seq, e.Run, e.Place, e.Key, e.Kind, e.At, e.Prev, e.Body})
}

// Limits bound what a run can write, so that a proposer cannot flood the ledger.
type Limits struct {
	Entries int64 // of one run
	Bytes   int   // of one body
	Text    int   // of one kept text
}

// DefaultLimits are those of a loop that says nothing else.
var DefaultLimits = Limits{Entries: 200_000, Bytes: 64 << 10, Text: 1 << 20}

// Store keeps the rows. An owner is part of every question.
type Store interface {
	// WriteLedger commits a change whole or not at all, and gives its entries: those of keys that
	// the run has already are as they were, and nothing is added for them. Where the same
	// key says something else, or an alias is not at the version before, it fails with
	// record.ErrConflict. When it returns, the change is durable.
	WriteLedger(ctx context.Context, owner string, c Change) ([]Entry, error)
	LedgerHead(ctx context.Context, owner string) (Head, error)
	// LedgerEntries lists the entries behind one, in order; of one run, unless run is "".
	LedgerEntries(ctx context.Context, owner, run string, after int64, limit int) ([]Entry, error)
	LedgerEntry(ctx context.Context, owner, run, key string) (Entry, error) // errs.NotFound
	LedgerRuns(ctx context.Context, owner string, limit int) ([]string, error)
	Aliases(ctx context.Context, owner string) ([]Alias, error)
	KeptText(ctx context.Context, owner string, w What, name ids.Digest) (string, error) // errs.NotFound
	Ledgers(ctx context.Context) ([]string, error)                                       // owners that have one
}

// Change is written as one.
type Change struct {
	Entries []Entry // without Seq, Place, Prev and Hash
	Aliases []Alias // each with the version that it is to become
	Texts   []Text  // those that are there stay as they are
	Most    int64   // entries that a run may have
}

// Ledger writes and reads. Its fields are set once; it is safe for concurrent use.
type Ledger struct {
	Store  Store
	Clock  clock.Clock
	Limits Limits
}

// Append writes entries as one commit and gives them as they stand. An entry whose key its
// run has already is not written again; if it says something else, up to times and measured
// costs, nothing is written and the error says so.
func (l *Ledger) Append(ctx context.Context, owner string, drafts ...Draft) ([]Entry, error) {
	return l.Write(ctx, owner, nil, nil, drafts...)
}

// Write is Append together with texts to keep and aliases to move. Each move is an entry of
// its own, behind the others.
func (l *Ledger) Write(ctx context.Context, owner string, texts []Text, moves []Alias, drafts ...Draft) ([]Entry, error) {
	if owner == "" {
		return nil, errs.New(errs.Internal, "a ledger entry without owner", "")
	}
	c := Change{Texts: texts, Most: l.Limits.Entries}
	for _, t := range texts {
		if err := t.check(l.Limits.Text); err != nil {
			return nil, err
		}
	}
	now := l.Clock.Now().UTC().Round(0)
	for _, m := range moves {
		m.Owner, m.At = owner, now
		c.Aliases, drafts = append(c.Aliases, m), append(drafts, m.draft())
	}
	for _, d := range drafts {
		e, err := l.entry(owner, now, d)
		if err != nil {
			return nil, err
		}
		c.Entries = append(c.Entries, e)
	}
	return l.Store.WriteLedger(ctx, owner, c)
}

func (l *Ledger) entry(owner string, now time.Time, d Draft) (Entry, error) {
	if d.Key == "" || len(d.Key) > maxKey || len(d.Run) > maxKey {
		return Entry{}, errs.Newf(errs.InvalidRequest, "an entry's key has %d bytes and its run %d; a key is needed, and each may have %d", len(d.Key), len(d.Run), maxKey)
	}
	if err := d.Body.check(); err != nil {
		return Entry{}, err
	}
	body, err := canonical.Bytes(d.Body)
	if err != nil {
		return Entry{}, err
	}
	if len(body) > l.Limits.Bytes {
		return Entry{}, errs.New(errs.TooLarge, "the entry "+errs.Clip(d.Key)+" is larger than the ledger takes", "keep long texts apart and name them by hash")
	}
	return Entry{Owner: owner, Run: d.Run, Key: d.Key, Kind: d.Body.Kind(), At: now, Body: body}, nil
}

// maxKey bounds keys and names of runs.
const maxKey = 256

// page is how many entries are read at a time.
const page = 1000

// All gives every entry of an owner, or of one of its runs, in order.
func (l *Ledger) All(ctx context.Context, owner, run string) (all []Entry, err error) {
	for after := int64(0); ; {
		next, err := l.Store.LedgerEntries(ctx, owner, run, after, page)
		if err != nil {
			return nil, err
		}
		if all = append(all, next...); len(next) < page {
			return all, nil
		}
		after = next[len(next)-1].Seq
	}
}
