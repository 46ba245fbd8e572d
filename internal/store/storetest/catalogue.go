package storetest

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
)

func digest(s string) ids.Digest { return ids.DigestOf([]byte(s)) }

// published is a revision with everything set.
func published(owner, hash, parent string, second int) adapter.Published {
	p := adapter.Published{
		Revision: adapter.Revision{Name: "a", Hash: digest(hash), Base: digest("base"), Rank: 1, Alpha: 2.5, Targets: []string{"q_proj"}, Params: 3, Bytes: 6},
		Owner:    owner, Contract: digest("c"), Data: digest("d"), Recipe: digest("text <é>\x00"), Metrics: map[string]float64{"loss": 0.1},
		Created: at(second), Signature: "{}", Place: adapter.Place{Shard: "S", At: int64(second), Len: 7},
	}
	if parent != "" {
		p.Parent = digest(parent)
	}
	return p
}

// revisions: what is entered is read back equal, by its owner only, once.
func revisions(t *testing.T, s Store) {
	a, b, other := published("o", "a", "", 1), published("o", "b", "a", 2), published("p", "a", "", 3)
	b.Name = "b"
	for _, p := range []adapter.Published{a, b, other} {
		if err := s.AddRevisions(ctx, p.Owner, []adapter.Published{p}, []string{"text <é>\x00"}, 1); err != nil {
			t.Fatal(err)
		}
	}
	again := a
	again.Created, again.Place.At, again.Metrics = at(9), 99, nil
	if err := s.AddRevisions(ctx, "o", []adapter.Published{again}, nil, 1); err != nil {
		t.Fatal(err)
	}
	for _, want := range []adapter.Published{a, b, other} {
		got, err := s.PublishedRevision(ctx, want.Owner, want.Hash)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
	if _, err := s.PublishedRevision(ctx, "p", b.Hash); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("another's: %v", err)
	}
	for name, c := range map[string]struct {
		adapter.Search
		want []ids.Digest
	}{
		"all":      {adapter.Search{Limit: 9}, []ids.Digest{b.Hash, a.Hash}},
		"one":      {adapter.Search{Limit: 1}, []ids.Digest{b.Hash}},
		"of a":     {adapter.Search{Name: "a", Limit: 9}, []ids.Digest{a.Hash}},
		"children": {adapter.Search{Parent: a.Hash, Limit: 9}, []ids.Digest{b.Hash}},
	} {
		found, err := s.PublishedRevisions(ctx, "o", c.Search)
		var got []ids.Digest
		for _, n := range found {
			got = append(got, n.Hash)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	first, err := s.PublishedRevisions(ctx, "o", adapter.Search{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if rest, err := s.PublishedRevisions(ctx, "o", adapter.Search{Before: first[0].Seq, Limit: 9}); err != nil || len(rest) != 1 || rest[0].Hash != a.Hash {
		t.Errorf("the page behind: %v, %v", rest, err)
	}
	if got, err := s.RevisionsByPrefix(ctx, "o", string(a.Hash[:12]), 2); err != nil || !slices.Equal(got, []ids.Digest{a.Hash}) {
		t.Errorf("by prefix: %v, %v", got, err)
	}
	if got, err := s.RecipeText(ctx, "o", a.Recipe); err != nil || got != "text <é>\x00" {
		t.Errorf("recipe: %q, %v", got, err)
	}
	if _, err := s.RecipeText(ctx, "q", a.Recipe); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("another's recipe: %v", err)
	}
}

// pointers move by compare and swap, all or none, and every move is kept.
func pointers(t *testing.T, s Store) {
	a, b := published("o", "a", "", 1), published("o", "b", "", 2)
	if err := s.AddRevisions(ctx, "o", []adapter.Published{a, b}, nil, 0); err != nil {
		t.Fatal(err)
	}
	to := func(alias string, version int64, hash ids.Digest) adapter.Pointer {
		return adapter.Pointer{Owner: "o", Name: "a", Alias: alias, Version: version, Revision: hash, Contract: digest("c"), Base: a.Base, Rank: 1, Alpha: 2, Targets: a.Targets,
			Checkpoint: digest("k"), Optimizer: digest("s"), Rollouts: []string{"rec_1"}, Exported: []ids.Digest{b.Hash}, Reason: "better", By: "key_1", At: at(int(version))}
	}
	one, two := to("champion", 1, a.Hash), to("champion", 2, b.Hash)
	previous := to("previous", 1, a.Hash)
	for _, moves := range [][]adapter.Pointer{{one}, {two, previous}} {
		if err := s.MovePointers(ctx, "o", moves, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.MovePointers(ctx, "o", []adapter.Pointer{to("canary", 1, a.Hash), to("champion", 2, a.Hash)}, 0); !errors.Is(err, record.ErrConflict) {
		t.Errorf("an old version: %v", err)
	}
	if err := s.MovePointers(ctx, "o", []adapter.Pointer{to("champion", 3, digest("nothing"))}, 0); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("to nothing: %v", err)
	}
	got, err := s.Pointers(ctx, "o", "a")
	if diff := cmp.Diff([]adapter.Pointer{two, previous}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	moves, err := s.Moves(ctx, "o", "a", "champion", 9)
	if diff := cmp.Diff([]adapter.Pointer{two, one}, moves); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, owner := range []string{"p", ""} {
		if got, err := s.Pointers(ctx, owner, ""); err != nil || len(got) != 0 {
			t.Errorf("of %q: %v, %v", owner, got, err)
		}
	}
	if err := s.MovePointers(ctx, "p", []adapter.Pointer{to("champion", 1, a.Hash)}, 0); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("to another's: %v", err)
	}
	race(t, s, to)
}

// race: of many who move the same pointer from the same version one succeeds.
func race(t *testing.T, s Store, to func(string, int64, ids.Digest) adapter.Pointer) {
	var wins sync.Map
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			err := s.MovePointers(ctx, "o", []adapter.Pointer{to("canary", 1, digest("a"))}, 0)
			if err == nil {
				wins.Store(n, true)
			} else if !errors.Is(err, record.ErrConflict) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	won := 0
	wins.Range(func(any, any) bool { won++; return true })
	if won != 1 {
		t.Errorf("%d moves won", won)
	}
}

// collection: what is condemned goes when its time has come, unless something comes to reach
// it before.
func collection(t *testing.T, s Store) {
	all := []adapter.Published{published("o", "a", "", 1), published("o", "b", "a", 2), published("o", "c", "", 3), published("o", "d", "", 4), published("p", "a", "", 5)}
	for _, p := range all {
		if err := s.AddRevisions(ctx, p.Owner, []adapter.Published{p}, nil, 1); err != nil {
			t.Fatal(err)
		}
	}
	hashes := []ids.Digest{digest("a"), digest("b"), digest("c"), digest("d")}
	step := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	step(s.CondemnRevisions(ctx, "o", hashes, at(10)))
	step(s.CondemnRevisions(ctx, "o", hashes, at(20))) // they keep their time
	step(s.MovePointers(ctx, "o", []adapter.Pointer{{Owner: "o", Name: "a", Alias: "canary", Version: 1, Revision: digest("b"), At: at(11)}}, 1))
	step(s.HoldRevision(ctx, adapter.Hold{Owner: "o", Revision: digest("c"), Holder: "h", Until: at(30)}))
	if gone, err := s.RemoveRevisions(ctx, "o", hashes, at(9)); err != nil || len(gone) != 0 {
		t.Errorf("too early: %v, %v", gone, err)
	}
	if gone, err := s.RemoveRevisions(ctx, "o", hashes, at(10)); err != nil || !slices.Equal(gone, []ids.Digest{digest("d")}) {
		t.Errorf("removed: %v, %v", gone, err)
	}
	aged, err := s.Aged(ctx, "o", 0, 9)
	if err != nil || len(aged) != 3 || aged[1].Parent != digest("a") || !aged[1].Condemned.IsZero() || !aged[1].Created.Equal(at(2)) {
		t.Errorf("aged: %+v, %v", aged, err)
	}
	for now, n := range map[int]int{29: 1, 30: 0} {
		if held, err := s.HeldRevisions(ctx, "o", at(now)); err != nil || len(held) != n {
			t.Errorf("held at %d: %v, %v", now, held, err)
		}
	}
	step(s.LetRevision(ctx, adapter.Hold{Owner: "o", Revision: digest("c"), Holder: "h"}))
	if held, err := s.HeldRevisions(ctx, "o", at(1)); err != nil || len(held) != 0 {
		t.Errorf("let go: %v, %v", held, err)
	}
	if err := s.HoldRevision(ctx, adapter.Hold{Owner: "o", Revision: digest("d"), Holder: "h", Until: at(30)}); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("held what is gone: %v", err)
	}
	if moves, err := s.MovesSince(ctx, "o", at(12)); err != nil || len(moves) != 1 { // where it stands, though it moved before
		t.Errorf("moves: %v, %v", moves, err)
	}
	step(s.MoveRevision(ctx, all[0], adapter.Place{Shard: "T", At: 1, Len: 7}))
	step(s.MoveRevision(ctx, all[0], adapter.Place{Shard: "U", At: 2, Len: 7})) // it is not there any more
	if use, err := s.ShardUse(ctx); err != nil || len(use) != 2 || use["T"] != 7 || use["S"] != 21 {
		t.Errorf("use: %v, %v", use, err)
	}
	if in, err := s.InShard(ctx, "T", 9); err != nil || len(in) != 1 || in[0].Hash != digest("a") || in[0].Owner != "o" {
		t.Errorf("in T: %v, %v", in, err)
	}
	if owners, err := s.Publishers(ctx); err != nil || !slices.Equal(owners, []string{"o", "p"}) {
		t.Errorf("owners: %v, %v", owners, err)
	}
	put(t, s, records(full()...))
	if logged, err := s.LoggedRevisions(ctx); err != nil || !slices.Contains(logged["o"], digest("r")) {
		t.Errorf("logged: %v, %v", logged, err)
	}
}
