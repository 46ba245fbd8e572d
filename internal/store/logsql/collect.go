package logsql

import (
	"context"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/ids"
)

// CondemnRevisions notes when it was found that nothing reaches revisions. Those that are
// condemned already keep their time.
func CondemnRevisions(ctx context.Context, db Writer, owner string, all []ids.Digest, now time.Time) error {
	return eachDigest(ctx, db, all, `UPDATE revisions SET condemned = $3 WHERE owner = $1 AND hash = $2 AND condemned = 0`, owner, now.UnixNano())
}

// ReprieveRevisions takes condemnations back.
func ReprieveRevisions(ctx context.Context, db Writer, owner string, all []ids.Digest) error {
	return eachDigest(ctx, db, all, `UPDATE revisions SET condemned = 0 WHERE owner = $1 AND hash = $2 AND condemned <> 0`, owner)
}

func eachDigest(ctx context.Context, db Writer, all []ids.Digest, query, owner string, more ...any) error {
	for _, d := range all {
		if err := run(ctx, db, query, append([]any{owner, string(d)}, more...)...); err != nil {
			return err
		}
	}
	return nil
}

// RemoveRevisions takes those of the given revisions out of the catalogue that were
// condemned up to a time and are still: whatever came to reach one since has taken that
// back. It tells which.
func RemoveRevisions(ctx context.Context, db Writer, owner string, all []ids.Digest, before time.Time) (gone []ids.Digest, err error) {
	for _, d := range all {
		n, err := db.Exec(ctx, `DELETE FROM revisions WHERE owner = $1 AND hash = $2 AND condemned <> 0 AND condemned <= $3`, owner, string(d), before.UnixNano())
		if err != nil {
			return nil, err
		}
		if n > 0 {
			gone = append(gone, d)
		}
	}
	return gone, nil
}

// MoveRevision notes that the bytes of a revision are elsewhere now, unless they have moved
// since they were seen at a place.
func MoveRevision(ctx context.Context, db Writer, p adapter.Published, to adapter.Place) error {
	return run(ctx, db, `UPDATE revisions SET shard = $1, at = $2, len = $3 WHERE owner = $4 AND hash = $5 AND shard = $6 AND at = $7`,
		to.Shard, to.At, to.Len, p.Owner, string(p.Hash), p.Place.Shard, p.Place.At)
}

// Aged lists an owner's revisions behind the one with a number, in order, at most limit.
func (l Log) Aged(ctx context.Context, owner string, after int64, limit int) ([]adapter.Aged, error) {
	return list(ctx, l, func(r Row) (a adapter.Aged, err error) {
		var hash, parent string
		var created, condemned int64
		err = r.Scan(&a.Seq, &hash, &parent, &created, &condemned)
		a.Hash, a.Parent, a.Created = ids.Digest(hash), ids.Digest(parent), time.Unix(0, created).UTC()
		if condemned != 0 {
			a.Condemned = time.Unix(0, condemned).UTC()
		}
		return a, err
	}, `SELECT seq, hash, parent, created, condemned FROM revisions WHERE owner = $1 AND seq > $2 ORDER BY seq LIMIT $3`, owner, after, limit)
}

// ParentOf gives the parent of an owner's revision; empty where there is none, or no such
// revision.
func (l Log) ParentOf(ctx context.Context, owner string, hash ids.Digest) (ids.Digest, error) {
	found, err := list(ctx, l, scanDigest, `SELECT parent FROM revisions WHERE owner = $1 AND hash = $2`, owner, string(hash))
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

// Publishers lists the owners that have revisions.
func (l Log) Publishers(ctx context.Context) ([]string, error) {
	return list(ctx, l, func(r Row) (s string, err error) { return s, r.Scan(&s) }, `SELECT DISTINCT owner FROM revisions ORDER BY owner`)
}

// LoggedRevisions gives the revisions that records of each owner name.
func (l Log) LoggedRevisions(ctx context.Context) (map[string][]ids.Digest, error) {
	all := map[string][]ids.Digest{}
	err := l.Query(ctx, func(r Row) error {
		var owner, revision string
		err := r.Scan(&owner, &revision)
		all[owner] = append(all[owner], ids.Digest(revision))
		return err
	}, `SELECT DISTINCT owner, revision FROM records WHERE revision <> ''`)
	return all, err
}

// ShardUse gives the bytes of each shard that revisions of any owner use.
func (l Log) ShardUse(ctx context.Context) (map[string]int64, error) {
	use := map[string]int64{}
	err := l.Query(ctx, func(r Row) error {
		var shard string
		var n int64
		err := r.Scan(&shard, &n)
		use[shard] = n
		return err
	}, `SELECT shard, CAST(SUM(len) AS BIGINT) FROM revisions WHERE shard <> '' GROUP BY shard`)
	return use, err
}

// InShard lists revisions of any owner whose bytes are in a shard, at most limit.
func (l Log) InShard(ctx context.Context, shard string, limit int) ([]adapter.Numbered, error) {
	return list(ctx, l, scanRevision, revisionColumns+`WHERE shard = $1 AND shard <> '' ORDER BY seq LIMIT $2`, shard, limit)
}
