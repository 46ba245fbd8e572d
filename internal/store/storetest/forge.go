package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/record"
)

func account(s Store) *ledger.Ledger {
	return &ledger.Ledger{Store: s, Clock: clock.System{}, Limits: ledger.DefaultLimits}
}

// whole reads an owner's ledger and checks its chain.
func whole(t *testing.T, s Store, owner string) []ledger.Entry {
	t.Helper()
	all, err := account(s).All(ctx, owner, "")
	if err != nil {
		t.Fatal(err)
	}
	var c ledger.Chain
	for _, e := range all {
		if err := c.Next(e); err != nil {
			t.Fatal(err)
		}
	}
	head, err := s.LedgerHead(ctx, owner)
	if err != nil || head != c.Head() {
		t.Fatalf("head %+v, chain %+v, %v", head, c.Head(), err)
	}
	aliases, err := s.Aliases(ctx, owner)
	if err == nil {
		err = c.Stands(aliases)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func step(n int, wall int64) ledger.Step {
	return ledger.Step{Generation: n, Name: "discovery <é>\x00", State: "ended", Cost: mindforge.Cost{Attempts: n, WallMS: wall}}
}

// forge: entries are chained, each key of a run is written once, and an owner sees its own.
func forge(t *testing.T, s Store) {
	l := account(s)
	first, err := l.Append(ctx, "o", ledger.Draft{Run: "r", Key: "a", Body: step(1, 5)}, ledger.Draft{Run: "r", Key: "b", Body: step(2, 6)})
	if err != nil {
		t.Fatal(err)
	}
	again, err := l.Append(ctx, "o", ledger.Draft{Run: "r", Key: "b", Body: step(2, 99)}, ledger.Draft{Run: "r", Key: "c", Body: step(3, 7)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first[1], again[0]); diff != "" {
		t.Errorf("a key that is there was written again: %s", diff)
	}
	if _, err := l.Append(ctx, "o", ledger.Draft{Run: "r", Key: "d", Body: step(4, 1)}, ledger.Draft{Run: "r", Key: "a", Body: step(9, 5)}); !errors.Is(err, record.ErrConflict) {
		t.Errorf("a key that says something else: %v", err)
	}
	if _, err := l.Append(ctx, "p", ledger.Draft{Run: "r", Key: "a", Body: step(1, 5)}); err != nil {
		t.Error(err)
	}
	all := whole(t, s, "o")
	if diff := cmp.Diff(append(first, again[1]), all); diff != "" || len(whole(t, s, "p")) != 1 {
		t.Error(diff)
	}
	for _, owner := range []string{"q", ""} {
		if len(whole(t, s, owner)) != 0 {
			t.Errorf("%q sees entries", owner)
		}
	}
	if e, err := s.LedgerEntry(ctx, "o", "r", "c"); err != nil || e.Hash != all[2].Hash {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := s.LedgerEntry(ctx, "p", "r", "c"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("another's entry: %v", err)
	}
	if of, err := s.LedgerEntries(ctx, "o", "r", all[0].Seq, 1); err != nil || len(of) != 1 || of[0].Key != "b" {
		t.Errorf("%+v, %v", of, err)
	}
	if owners, err := s.Ledgers(ctx); err != nil || !slices.Equal(owners, []string{"o", "p"}) {
		t.Error(owners, err)
	}
	if runs, err := s.LedgerRuns(ctx, "o", 9); err != nil || !slices.Equal(runs, []string{"r"}) {
		t.Error(runs, err)
	}
	flood(t, s)
}

// flood: a run has as many entries as it may, a body as many bytes.
func flood(t *testing.T, s Store) {
	l := account(s)
	l.Limits = ledger.Limits{Entries: 2, Bytes: 600, Text: 10}
	for n, want := range []errs.Code{"", "", errs.TooLarge} {
		_, err := l.Append(ctx, "o", ledger.Draft{Run: "flood", Key: fmt.Sprint(n), Body: step(n, 0)})
		if errs.CodeOf(err) != want && (want != "" || err != nil) {
			t.Errorf("entry %d: %v", n, err)
		}
	}
	long := step(1, 0)
	long.Note = string(make([]byte, 500))
	if _, err := l.Append(ctx, "o", ledger.Draft{Run: "long", Key: "a", Body: long}); errs.CodeOf(err) != errs.TooLarge {
		t.Errorf("a long body: %v", err)
	}
	if _, err := l.Write(ctx, "o", []ledger.Text{ledger.Plain("eleven bytes")}, nil); errs.CodeOf(err) != errs.TooLarge {
		t.Errorf("a long text: %v", err)
	}
	whole(t, s, "o")
}

// forgeAliases: names move by compare and swap, together with what is written with them, and
// every move is an entry.
func forgeAliases(t *testing.T, s Store) {
	l, a, b := account(s), digest("a"), digest("b")
	move := func(name string, version int64, from, to ids.Digest) ledger.Alias {
		return ledger.Alias{Name: name, Version: version, From: from, Release: to, Share: 0.25, Reason: "better <é>", By: "key"}
	}
	write := func(want bool, moves ...ledger.Alias) {
		t.Helper()
		text := ledger.Plain(fmt.Sprint("text\x00", len(moves)))
		if _, err := l.Write(ctx, "o", []ledger.Text{text}, moves); (err == nil) != want || err != nil && !errors.Is(err, record.ErrConflict) {
			t.Errorf("%+v: %v", moves, err)
		}
		if got, err := s.KeptText(ctx, "o", ledger.PlainText, text.Name); want && got != text.Text {
			t.Errorf("%q, %v", got, err)
		}
	}
	write(true, move("champion", 1, "", a))
	write(true, move("champion", 2, a, b), move("previous", 1, "", a), move("canary", 1, "", a))
	write(false, move("canary", 2, a, ""), move("champion", 2, a, b))
	write(false, move("canary", 2, b, ""))
	got, err := s.Aliases(ctx, "o")
	if err != nil || len(got) != 3 || got[1].Release != b || got[1].Version != 2 || got[0].Release != a || got[0].Share != 0.25 || got[2].From != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.Aliases(ctx, "p"); err != nil || len(got) != 0 {
		t.Errorf("another's: %+v, %v", got, err)
	}
	if _, err := s.KeptText(ctx, "p", ledger.PlainText, ledger.Plain("text\x001").Name); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("another's text: %v", err)
	}
	if all := whole(t, s, "o"); len(all) != 4 || all[3].Key != "alias/canary/1" {
		t.Errorf("%+v", all)
	}
}

// forgeRace: many write at once; each key is there once, and the chain holds.
func forgeRace(t *testing.T, s Store) {
	l := account(s)
	var all sync.WaitGroup
	for w := range 6 {
		all.Go(func() {
			for n := range 20 {
				if _, err := l.Append(ctx, "o", ledger.Draft{Run: "r", Key: fmt.Sprint(n), Body: step(n, int64(w))}, ledger.Draft{Run: fmt.Sprint("own", w), Key: fmt.Sprint(n), Body: step(n, 0)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := len(whole(t, s, "o")); n != 20+6*20 {
		t.Errorf("%d entries", n)
	}
}
