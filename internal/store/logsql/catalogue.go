package logsql

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// AddRevisions enters an owner's revisions and the texts of their recipes in the catalogue
// in an open transaction. A revision that is there already stays as it is, and is kept from
// collection, as are so many parents of each.
func AddRevisions(ctx context.Context, db Writer, owner string, all []adapter.Published, recipes []string, parents int) error {
	for _, text := range recipes {
		if err := run(ctx, db, `INSERT INTO recipes (owner, hash, text) VALUES ($1, $2, $3) ON CONFLICT (owner, hash) DO NOTHING`,
			owner, string(ids.DigestOf([]byte(text))), text); err != nil {
			return err
		}
	}
	for _, p := range all {
		if err := addRevision(ctx, db, owner, p, parents); err != nil {
			return err
		}
	}
	return nil
}

func addRevision(ctx context.Context, db Writer, owner string, p adapter.Published, parents int) error {
	if p.Parent != "" {
		if err := revive(ctx, db, owner, p.Parent, parents-1); err != nil {
			return err
		}
	}
	signature := p.Signature
	p.Signature = ""
	body, err := json.Marshal(p)
	if err != nil {
		return errs.Wrap(errs.Internal, err, "the revision cannot be written", "")
	}
	return run(ctx, db, `INSERT INTO revisions (owner, hash, name, parent, created, shard, at, len, signature, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (owner, hash) DO UPDATE SET condemned = 0`,
		owner, string(p.Hash), p.Name, string(p.Parent), p.Created.UnixNano(), p.Place.Shard, p.Place.At, p.Place.Len, signature, string(body))
}

// revive takes back the condemnation of a revision and of parents ancestors of it. Those
// that are gone end the chain.
func revive(ctx context.Context, db Writer, owner string, hash ids.Digest, parents int) error {
	for n := 0; n <= parents && hash != ""; n++ {
		if _, err := db.Exec(ctx, `UPDATE revisions SET condemned = 0 WHERE owner = $1 AND hash = $2 AND condemned <> 0`, owner, string(hash)); err != nil {
			return err
		}
		above, err := list(ctx, db, func(r Row) (s string, err error) { return s, r.Scan(&s) }, `SELECT parent FROM revisions WHERE owner = $1 AND hash = $2`, owner, string(hash))
		if err != nil || len(above) == 0 {
			return err
		}
		hash = ids.Digest(above[0])
	}
	return nil
}

const revisionColumns = `SELECT seq, owner, shard, at, len, signature, created, body FROM revisions `

func scanRevision(r Row) (n adapter.Numbered, err error) {
	var body string
	var created int64
	if err := r.Scan(&n.Seq, &n.Owner, &n.Place.Shard, &n.Place.At, &n.Place.Len, &n.Signature, &created, &body); err != nil {
		return n, err
	}
	owner, place, signature := n.Owner, n.Place, n.Signature
	if err := json.Unmarshal([]byte(body), &n.Published); err != nil {
		return n, errs.Wrap(errs.FormatInvalid, err, "a revision in the catalogue cannot be read", "restore the database from a backup")
	}
	n.Owner, n.Place, n.Signature, n.Created = owner, place, signature, time.Unix(0, created).UTC()
	return n, nil
}

// PublishedRevision gives an owner's revision by its hash.
func (l Log) PublishedRevision(ctx context.Context, owner string, hash ids.Digest) (adapter.Published, error) {
	found, err := list(ctx, l, scanRevision, revisionColumns+`WHERE owner = $1 AND hash = $2`, owner, string(hash))
	if err == nil && len(found) == 0 {
		err = noRevision(hash)
	}
	if err != nil {
		return adapter.Published{}, err
	}
	return found[0].Published, nil
}

func noRevision(hash ids.Digest) error {
	return errs.New(errs.NotFound, "the catalogue has no revision "+hash.Short(), "`macaron mint revisions` lists yours")
}

// PublishedRevisions lists an owner's revisions, the newest first.
func (l Log) PublishedRevisions(ctx context.Context, owner string, s adapter.Search) ([]adapter.Numbered, error) {
	where, args := `WHERE owner = $1`, []any{owner}
	add := func(condition string, value any) { args = append(args, value); where += condition + mark(len(args)) }
	if s.Name != "" {
		add(` AND name = `, s.Name)
	}
	if s.Parent != "" {
		add(` AND parent <> '' AND parent = `, string(s.Parent))
	}
	if s.Before != 0 {
		add(` AND seq < `, s.Before)
	}
	args = append(args, s.Limit)
	return list(ctx, l, scanRevision, revisionColumns+where+` ORDER BY seq DESC LIMIT `+mark(len(args)), args...)
}

// RevisionsByPrefix gives the hashes of an owner's revisions that begin so, at most limit.
func (l Log) RevisionsByPrefix(ctx context.Context, owner, prefix string, limit int) ([]ids.Digest, error) {
	return list(ctx, l, scanDigest, `SELECT hash FROM revisions WHERE owner = $1 AND hash >= $2 AND hash < $3 ORDER BY hash LIMIT $4`, owner, prefix, prefix+"g", limit)
}

// RecipeText gives the text of an owner's recipe.
func (l Log) RecipeText(ctx context.Context, owner string, hash ids.Digest) (string, error) {
	found, err := list(ctx, l, func(r Row) (s string, err error) { return s, r.Scan(&s) }, `SELECT text FROM recipes WHERE owner = $1 AND hash = $2`, owner, string(hash))
	if err == nil && len(found) == 0 {
		err = errs.New(errs.NotFound, "the catalogue has no text of the recipe "+hash.Short(), "")
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

func mark(n int) string { return "$" + strconv.Itoa(n) }

func scanDigest(r Row) (d ids.Digest, err error) {
	var s string
	err = r.Scan(&s)
	return ids.Digest(s), err
}
