package ledger

import (
	"fmt"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
)

// Identity names a candidate by what it is.
func Identity(c mindforge.Candidate) (ids.Digest, error) { return c.Hash() }

// Chain checks entries one after another, of one owner's whole ledger.
type Chain struct {
	head   Head
	places map[string]int64 // of runs
	names  map[string]int64 // of aliases: their version
	at     map[string]ids.Digest
}

// Next checks the entry that stands next. The error names the number where the ledger is
// not what was written.
func (c *Chain) Next(e Entry) error {
	if c.places == nil {
		c.places, c.names, c.at = map[string]int64{}, map[string]int64{}, map[string]ids.Digest{}
	}
	switch h, err := e.hash(); {
	case err != nil:
		return broken(c.head.Seq+1, "cannot be read: "+err.Error())
	case e.Seq != c.head.Seq+1:
		return broken(c.head.Seq+1, fmt.Sprintf("is missing, or out of its place: entry %d stands there", e.Seq))
	case h != e.Hash:
		return broken(e.Seq, "was changed: its content has another hash")
	case e.Prev != c.head.Hash:
		return broken(e.Seq, "does not follow entry "+fmt.Sprint(c.head.Seq)+": it names another hash before it")
	case e.Place != c.places[e.Run]+1:
		return broken(e.Seq, fmt.Sprintf("is number %d of its run, not %d", e.Place, c.places[e.Run]+1))
	}
	b, err := e.Decode()
	if err == nil {
		err = b.check()
	}
	if err != nil {
		return broken(e.Seq, err.Error())
	}
	if m, ok := b.(Moved); ok {
		if err := c.moved(e.Seq, m); err != nil {
			return err
		}
	}
	c.head, c.places[e.Run] = Head{e.Seq, e.Hash}, e.Place
	return nil
}

func (c *Chain) moved(seq int64, m Moved) error {
	if m.Version != c.names[m.Alias]+1 || m.From != c.at[m.Alias] {
		return broken(seq, fmt.Sprintf("moves %s from %q at version %d, where it is not", m.Alias, m.From.Short(), m.Version-1))
	}
	c.names[m.Alias], c.at[m.Alias] = m.Version, m.To
	return nil
}

// Sound checks an entry by itself: its content has the hash that it names. That none is missing, and
// none was put in, a Chain tells.
func (e Entry) Sound() error {
	h, err := e.hash()
	if err != nil {
		return broken(e.Seq, "cannot be read: "+err.Error())
	}
	if h != e.Hash {
		return broken(e.Seq, "was changed: its content has another hash")
	}
	return nil
}

// Head is where what was checked ends.
func (c *Chain) Head() Head { return c.head }

// Stands checks that the aliases are where the ledger has moved them.
func (c *Chain) Stands(all []Alias) error {
	seen := map[string]bool{}
	for _, a := range all {
		seen[a.Name] = true
		if a.Version != c.names[a.Name] || a.Release != c.at[a.Name] {
			return stray(a, c.at[a.Name], c.names[a.Name])
		}
	}
	for name := range c.names {
		if !seen[name] {
			return tampered("the alias " + name + " is gone; the ledger has moved it")
		}
	}
	return nil
}

func stray(a Alias, release ids.Digest, version int64) error {
	return tampered(fmt.Sprintf("the alias %s stands on %q at version %d; the ledger says %q at version %d", a.Name, a.Release.Short(), a.Version, release.Short(), version))
}

// Since checks that the ledger goes on from a head that somebody has noted before: it is
// how a ledger that lost its last entries is found out. at is the entry of that number.
func Since(noted Head, at Entry) error {
	if noted.Seq != 0 && (at.Seq != noted.Seq || at.Hash != noted.Hash) {
		return broken(noted.Seq, "is not the one that was noted, or is gone")
	}
	return nil
}

func broken(seq int64, why string) error {
	return tampered(fmt.Sprintf("entry %d %s", seq, why))
}

func tampered(why string) error {
	return errs.New(errs.ChecksumMismatch, "the ledger is not what was written: "+why, "restore the database from a backup (`macaron restore`) and check that with `macaron forge lineage`; nothing behind it can be relied upon")
}
