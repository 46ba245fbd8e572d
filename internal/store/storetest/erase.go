package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// family is session f, g forked from it, h forked from g, beside it k, and an f of
// somebody else; all turns delivered, with chains, calls and queued summaries.
func family(t *testing.T, s Store) {
	t.Helper()
	for i, c := range []struct{ owner, session, turn, parent string }{
		{"o", "f", "f1", ""}, {"o", "g", "g1", "f1"}, {"o", "h", "h1", "g1"}, {"o", "k", "k1", ""}, {"x", "f", "f1", ""},
	} {
		b := records(opened(c.owner, c.session, i), turn(c.owner, c.session, c.turn, c.parent, i), closed(c.owner, c.session, c.turn, i, record.StatusDelivered))
		b.Chains = []record.Chain{{Owner: c.owner, Scope: "k", Hash: [32]byte{byte(i + 1)}, Turn: c.turn, Session: c.session, End: true}}
		b.Calls = []record.Call{{Owner: c.owner, Scope: "k", ID: "c" + c.turn, Turn: c.turn, Session: c.session}}
		b.Queue = []record.Ref{{Owner: c.owner, Turn: c.turn, Session: c.session}}
		put(t, s, b)
	}
}

func names(gone []record.Erased) (all []string) {
	for _, e := range gone {
		all = append(all, e.Session)
	}
	return all
}

func erase(t *testing.T, s Store) {
	family(t, s)
	o := record.Erase{Why: "asked", Time: at(50)}
	try := o
	try.DryRun = true
	planned, err := s.Erase(ctx, "o", "g", try)
	if diff := cmp.Diff([]string{"g", "h"}, names(planned)); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	if _, err := s.Session(ctx, "o", "g"); err != nil {
		t.Fatal("a dry run deleted: ", err)
	}
	gone, err := s.Erase(ctx, "o", "g", o)
	if diff := cmp.Diff(planned, gone); err != nil || diff != "" || gone[0].Records != 3 || gone[0].Turns != 1 || gone[0].Bytes < 50 {
		t.Fatal(err, diff, gone)
	}
	for _, id := range []string{"g", "h"} {
		_, missing := s.Session(ctx, "o", id)
		_, turnless := s.Turn(ctx, "o", id+"1")
		if errs.CodeOf(missing) != errs.NotFound || errs.CodeOf(turnless) != errs.NotFound {
			t.Errorf("%s is there: %v %v", id, missing, turnless)
		}
		if r, err := s.Records(ctx, "o", id, 0, 9); err != nil || len(r) > 0 {
			t.Errorf("%d records of %s: %v", len(r), id, err)
		}
		if c, err := s.Calls(ctx, "o", "k", "c"+id+"1", 9); err != nil || len(c) > 0 {
			t.Errorf("calls of %s: %v %v", id, c, err)
		}
		if err := s.Append(ctx, records(rec("o", id, id+"1", "", 60, record.Feedback{Score: 1}))); err == nil {
			t.Errorf("%s took a record after its end", id)
		}
		if err := s.Append(ctx, records(opened("o", id, 61))); err == nil {
			t.Errorf("%s came back", id)
		}
	}
	if i, _, err := s.LastChain(ctx, "o", "k", "", [][32]byte{{2}, {3}}, 9); err != nil || i >= 0 {
		t.Errorf("a chain stayed: %d %v", i, err)
	}
	if tasks, err := s.Lease(ctx, at(70), at(80), 9); err != nil || len(tasks) != 3 {
		t.Errorf("%d tasks are left: %v", len(tasks), err)
	}
	for _, w := range [][2]string{{"o", "f"}, {"o", "k"}, {"x", "f"}} {
		if r, err := s.Records(ctx, w[0], w[1], 0, 9); err != nil || len(r) != 3 {
			t.Errorf("%v has %d records: %v", w, len(r), err)
		}
	}
	left, err := s.Erasures(ctx, "o", 9)
	if diff := cmp.Diff(gone, left, cmpopts.SortSlices(func(a, b record.Erased) bool { return a.Session < b.Session })); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if other, err := s.Erasures(ctx, "x", 9); err != nil || len(other) > 0 {
		t.Errorf("x sees %v %v", other, err)
	}
	if _, err := s.Erase(ctx, "o", "g", o); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("twice: %v", err)
	}
	if err := s.Reclaim(ctx); err != nil {
		t.Error(err)
	}
	if all, err := s.Owners(ctx); err != nil || cmp.Diff([]string{"o", "x"}, all) != "" {
		t.Errorf("owners %v %v", all, err)
	}
}

// A session that is answered just now stays, and so does an old one on which a newer one
// builds.
func eraseWaits(t *testing.T, s Store) {
	family(t, s)
	put(t, s, records(turn("o", "k", "k2", "k1", 30)))
	if _, err := s.Erase(ctx, "o", "k", record.Erase{Time: at(50)}); errs.CodeOf(err) != errs.Overloaded {
		t.Errorf("an open turn went: %v", err)
	}
	put(t, s, records(closed("o", "k", "k2", 31, record.StatusDelivered), turn("o", "h", "h2", "h1", 30), closed("o", "h", "h2", 40, record.StatusDelivered)))
	if gone, err := s.Erase(ctx, "o", "f", record.Erase{Time: at(50), Before: at(40)}); err != nil || len(gone) > 0 {
		t.Errorf("%v went: %v", names(gone), err)
	}
	stale, err := s.Stale(ctx, "o", at(35), "", 9)
	if diff := cmp.Diff([]string{"f", "g", "k"}, stale); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if all, err := s.Stale(ctx, "o", time.Time{}, "f", 2); err != nil || cmp.Diff([]string{"g", "h"}, all) != "" {
		t.Errorf("%v %v", all, err)
	}
	if gone, err := s.Erase(ctx, "o", "f", record.Erase{Time: at(50), Before: at(41)}); err != nil || len(gone) != 3 {
		t.Errorf("%v went: %v", names(gone), err)
	}
}
