package logsql

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/record"
)

// WriteLedger writes a change of an owner's ledger in an open transaction that nobody else
// writes to it in: texts, aliases, and entries behind its last one.
func WriteLedger(ctx context.Context, db Writer, owner string, c ledger.Change) (all []ledger.Entry, err error) {
	for _, t := range c.Texts {
		if err := run(ctx, db, `INSERT INTO forge_texts (owner, what, name, text) VALUES ($1, $2, $3, $4) ON CONFLICT (owner, what, name) DO NOTHING`,
			owner, string(t.What), string(t.Name), t.Text); err != nil {
			return nil, err
		}
	}
	for _, a := range c.Aliases {
		if err := moveAlias(ctx, db, owner, a); err != nil {
			return nil, err
		}
	}
	head, err := ledgerHead(ctx, db, owner)
	if err != nil {
		return nil, err
	}
	for _, e := range c.Entries {
		e.Owner = owner
		written, isNew, err := addEntry(ctx, db, head, e, c.Most)
		if err != nil {
			return nil, err
		}
		if isNew {
			head = ledger.Head{Seq: written.Seq, Hash: written.Hash}
		}
		all = append(all, written)
	}
	return all, nil
}

// addEntry writes an entry behind head, unless its run has one of that key.
func addEntry(ctx context.Context, db Writer, head ledger.Head, e ledger.Entry, most int64) (ledger.Entry, bool, error) {
	old, err := list(ctx, db, scanEntry, entryColumns+`WHERE owner = $1 AND run = $2 AND key = $3`, e.Owner, e.Run, e.Key)
	if err != nil {
		return e, false, err
	}
	if len(old) > 0 {
		same, err := ledger.Same(old[0], e)
		if err == nil && !same {
			err = fmt.Errorf("the ledger has %s, which says something else: %w", e.Key, record.ErrConflict)
		}
		return old[0], false, err
	}
	var place int64
	if err := db.Query(ctx, func(r Row) error { return r.Scan(&place) },
		`SELECT coalesce(max(place), 0) FROM forge_entries WHERE owner = $1 AND run = $2`, e.Owner, e.Run); err != nil {
		return e, false, err
	}
	if e.Run != "" && place >= most {
		return e, false, errs.Newf(errs.TooLarge, "the run %s has %d entries in the ledger, which is all that it may have", errs.Clip(e.Run), place)
	}
	if e, err = ledger.Seal(head, place+1, e); err != nil {
		return e, false, err
	}
	return e, true, run(ctx, db, `INSERT INTO forge_entries (owner, seq, run, place, key, kind, at, prev, hash, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		e.Owner, e.Seq, e.Run, e.Place, e.Key, string(e.Kind), e.At.UnixNano(), string(e.Prev), string(e.Hash), string(e.Body))
}

func moveAlias(ctx context.Context, db Writer, owner string, a ledger.Alias) error {
	found, err := list(ctx, db, scanAlias, aliasColumns+`WHERE owner = $1 AND name = $2`, owner, a.Name)
	if err != nil {
		return err
	}
	var now ledger.Alias
	if len(found) > 0 {
		now = found[0]
	}
	if a.Version != now.Version+1 || a.From != now.Release {
		return record.ErrConflict
	}
	body, err := json.Marshal(a)
	if err != nil {
		return errs.Wrap(errs.Internal, err, "the move cannot be written", "")
	}
	return run(ctx, db, `INSERT INTO forge_aliases (owner, name, version, release, at, body) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (owner, name) DO UPDATE SET version = excluded.version, release = excluded.release, at = excluded.at, body = excluded.body`,
		owner, a.Name, a.Version, string(a.Release), a.At.UnixNano(), string(body))
}

const (
	entryColumns = `SELECT owner, seq, run, place, key, kind, at, prev, hash, body FROM forge_entries `
	aliasColumns = `SELECT owner, body FROM forge_aliases `
)

func scanEntry(r Row) (e ledger.Entry, err error) {
	var kind, prev, hash, body string
	var at int64
	err = r.Scan(&e.Owner, &e.Seq, &e.Run, &e.Place, &e.Key, &kind, &at, &prev, &hash, &body)
	e.Kind, e.At, e.Prev, e.Hash, e.Body = ledger.Kind(kind), time.Unix(0, at).UTC(), ids.Digest(prev), ids.Digest(hash), json.RawMessage(body)
	return e, err
}

func scanAlias(r Row) (a ledger.Alias, err error) {
	var owner, body string
	if err := r.Scan(&owner, &body); err != nil {
		return a, err
	}
	err = json.Unmarshal([]byte(body), &a)
	a.Owner = owner
	return a, errs.Wrap(errs.FormatInvalid, err, "an alias of a release cannot be read", "restore the database from a backup")
}

func ledgerHead(ctx context.Context, db Reader, owner string) (h ledger.Head, err error) {
	err = db.Query(ctx, func(r Row) error {
		var hash string
		err := r.Scan(&h.Seq, &hash)
		h.Hash = ids.Digest(hash)
		return err
	}, `SELECT seq, hash FROM forge_entries WHERE owner = $1 ORDER BY seq DESC LIMIT 1`, owner)
	return h, err
}

// LedgerHead tells where an owner's ledger ends.
func (l Log) LedgerHead(ctx context.Context, owner string) (ledger.Head, error) {
	return ledgerHead(ctx, l, owner)
}

// LedgerEntries lists an owner's entries behind one, in order; of one run, unless run is "".
func (l Log) LedgerEntries(ctx context.Context, owner, run string, after int64, limit int) ([]ledger.Entry, error) {
	if run == "" {
		return list(ctx, l, scanEntry, entryColumns+`WHERE owner = $1 AND seq > $2 ORDER BY seq LIMIT $3`, owner, after, limit)
	}
	return list(ctx, l, scanEntry, entryColumns+`WHERE owner = $1 AND run = $2 AND seq > $3 ORDER BY place LIMIT $4`, owner, run, after, limit)
}

// LedgerEntry gives the entry of a key.
func (l Log) LedgerEntry(ctx context.Context, owner, run, key string) (ledger.Entry, error) {
	found, err := list(ctx, l, scanEntry, entryColumns+`WHERE owner = $1 AND run = $2 AND key = $3`, owner, run, key)
	if err == nil && len(found) == 0 {
		err = errs.New(errs.NotFound, "the ledger has no entry "+errs.Clip(key), "`macaron forge lineage` lists what there is")
	}
	if err != nil {
		return ledger.Entry{}, err
	}
	return found[0], nil
}

// LedgerRuns lists the runs that wrote to an owner's ledger, the last to begin first.
func (l Log) LedgerRuns(ctx context.Context, owner string, limit int) ([]string, error) {
	return list(ctx, l, scanText, `SELECT run FROM forge_entries WHERE owner = $1 AND place = 1 AND run <> '' ORDER BY seq DESC LIMIT $2`, owner, limit)
}

// Aliases lists where an owner's aliases stand, by name.
func (l Log) Aliases(ctx context.Context, owner string) ([]ledger.Alias, error) {
	return list(ctx, l, scanAlias, aliasColumns+`WHERE owner = $1 ORDER BY name`, owner)
}

// Ledgers lists the owners that have a ledger.
func (l Log) Ledgers(ctx context.Context) ([]string, error) {
	return list(ctx, l, scanText, `SELECT owner FROM forge_entries WHERE seq = 1 ORDER BY owner`)
}

// KeptText gives a text that is kept beside an owner's ledger.
func (l Log) KeptText(ctx context.Context, owner string, w ledger.What, name ids.Digest) (string, error) {
	found, err := list(ctx, l, scanText, `SELECT text FROM forge_texts WHERE owner = $1 AND what = $2 AND name = $3`, owner, string(w), string(name))
	if err == nil && len(found) == 0 {
		err = errs.New(errs.NotFound, "no "+string(w)+" "+name.Short()+" is kept beside the ledger", "`macaron forge lineage` lists what there is")
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}
