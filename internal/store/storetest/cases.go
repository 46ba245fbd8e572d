package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"macaron/internal/errs"
	"macaron/internal/record"
)

func recordsReadBack(t *testing.T, s Store) {
	want := full()
	put(t, s, records(want...))
	got, err := s.Records(ctx, "o", "s", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(record.Head{}, "Seq")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := 1; i < len(got); i++ {
		if got[i].Seq <= got[i-1].Seq {
			t.Errorf("seq %d after %d", got[i].Seq, got[i-1].Seq)
		}
	}
	rest, err := s.Records(ctx, "o", "s", got[2].Seq, 2)
	if err != nil || len(rest) != 2 || rest[0].ID != want[3].ID {
		t.Errorf("a page has %d records: %v", len(rest), err)
	}
}

// inOneBatch: a turn that is opened and closed by one batch stands as one that two batches
// opened and closed, and so does its session.
func inOneBatch(t *testing.T, s Store) {
	for i, end := range []record.Status{record.StatusDelivered, record.StatusAwaiting, record.StatusInterrupted} {
		once, twice := fmt.Sprint("once", i), fmt.Sprint("twice", i)
		put(t, s, records(opened("o", once, 1), turn("o", once, "a"+once, "", 2), closed("o", once, "a"+once, 5, end)))
		put(t, s, records(opened("o", twice, 1), turn("o", twice, "a"+twice, "", 2)))
		put(t, s, records(closed("o", twice, "a"+twice, 5, end)))
		sameSession(t, s, once, twice, 1)
		put(t, s, records(turn("o", once, "b"+once, "", 6), turn("o", once, "c"+once, "", 6), closed("o", once, "b"+once, 9, end)))
		put(t, s, records(turn("o", twice, "b"+twice, "", 6), turn("o", twice, "c"+twice, "", 6)))
		put(t, s, records(closed("o", twice, "b"+twice, 9, end)))
		sameSession(t, s, once, twice, 3)
		for _, id := range []string{"a", "b"} { // what was seen awaiting waits again when it is cut short
			put(t, s, records(rec("o", once, id+once, "", 10, record.ToolResults{}), closed("o", once, id+once, 11, record.StatusInterrupted)))
			put(t, s, records(rec("o", twice, id+twice, "", 10, record.ToolResults{}), closed("o", twice, id+twice, 11, record.StatusInterrupted)))
		}
		for _, id := range []string{"a", "b", "c"} {
			x, errX := s.Turn(ctx, "o", id+once)
			y, errY := s.Turn(ctx, "o", id+twice)
			if x.Status != y.Status || errX != nil || errY != nil {
				t.Errorf("%s, %s: %q and %q: %v %v", id, end, x.Status, y.Status, errX, errY)
			}
		}
	}
	open, err := s.Open(ctx, 99)
	for _, o := range open {
		if o.Turn[0] != 'c' {
			t.Errorf("%s is %s", o.Turn, o.Status)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func sameSession(t *testing.T, s Store, once, twice string, turns int) {
	t.Helper()
	x, errX := s.Session(ctx, "o", once)
	y, errY := s.Session(ctx, "o", twice)
	if x.Turns != turns || y.Turns != turns || !x.Updated.Equal(y.Updated) || errX != nil || errY != nil {
		t.Errorf("%+v and %+v: %v %v", x, y, errX, errY)
	}
}

func allOrNothing(t *testing.T, s Store) {
	put(t, s, records(opened("o", "s", 1)))
	bad := records(turn("o", "s", "t", "", 2), turn("o", "s", "t", "", 2)) // one id twice
	bad.Chains = []record.Chain{{Owner: "o", Scope: "k", Hash: [32]byte{1}, Turn: "t", Session: "s"}}
	if err := s.Append(ctx, bad); err == nil {
		t.Fatal("one record was taken twice")
	}
	if err := s.Append(ctx, records(turn("o", "nowhere", "t", "", 2))); err == nil {
		t.Error("a turn of no session was taken")
	}
	if err := s.Append(ctx, records(closed("o", "s", "t", 2, record.StatusDelivered))); err == nil {
		t.Error("a turn that was never opened was closed")
	}
	if got, err := s.Records(ctx, "o", "s", 0, 10); err != nil || len(got) != 1 {
		t.Errorf("%d records stayed: %v", len(got), err)
	}
	if i, _, err := s.LastChain(ctx, "o", "k", "", [][32]byte{{1}}, 1); err != nil || i != -1 {
		t.Errorf("a chain stayed: %d %v", i, err)
	}
	put(t, s, records(turn("o", "s", "t", "", 2))) // and the store goes on
}

func expectations(t *testing.T, s Store) {
	put(t, s, records(opened("o", "s", 1), turn("o", "s", "t", "", 2)))
	for _, e := range []record.Expect{{Owner: "o", Turn: "t", Status: record.StatusAwaiting}, {Owner: "x", Turn: "t", Status: record.StatusOpen}, {Owner: "o", Turn: "none"}} {
		b := records(closed("o", "s", "t", 3, record.StatusDelivered))
		b.Expect = []record.Expect{e}
		if err := s.Append(ctx, b); !errors.Is(err, record.ErrConflict) {
			t.Errorf("%+v: %v", e, err)
		}
	}
	b := records(closed("o", "s", "t", 3, record.StatusDelivered))
	b.Expect = []record.Expect{{Owner: "o", Turn: "t", Status: record.StatusOpen}}
	put(t, s, b)
}

// Of many that write of a turn's cards at the same place, one does; records of other kinds
// do not count.
func cardsAt(t *testing.T, s Store) {
	put(t, s, records(opened("o", "s", 1), turn("o", "s", "t", "", 2)))
	ended := func(second int) record.Batch {
		r := closed("o", "s", "t", second, record.StatusDelivered)
		r.Body = record.CardOutcome{Surface: "inline/t/0", Revision: "r", Outcome: record.CardAbandoned}
		return records(r)
	}
	var ok, refused atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			b := ended(10 + i)
			b.Cards = []record.Cards{{Owner: "o", Turn: "t", Records: 0}}
			switch err := s.Append(ctx, b); {
			case err == nil:
				ok.Add(1)
			case errors.Is(err, record.ErrConflict):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if ok.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d were written, %d were refused", ok.Load(), refused.Load())
	}
	for _, c := range []record.Cards{{Owner: "o", Turn: "t", Records: 0}, {Owner: "o", Turn: "t", Records: 2}, {Owner: "x", Turn: "t", Records: 1}} {
		b := ended(30)
		b.Cards = []record.Cards{c}
		if err := s.Append(ctx, b); !errors.Is(err, record.ErrConflict) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func owners(t *testing.T, s Store) {
	b := records(full()...)
	b.Chains = []record.Chain{{Owner: "o", Scope: "k", Hash: [32]byte{1}, Turn: "t", Session: "s"}}
	b.Calls = []record.Call{{Owner: "o", Scope: "k", ID: "c", Turn: "t", Session: "s"}}
	put(t, s, b)
	for _, w := range []struct{ owner, scope string }{{"x", "k"}, {"o", "other"}} {
		if i, _, err := s.LastChain(ctx, w.owner, w.scope, "", [][32]byte{{1}}, 9); err != nil || i >= 0 {
			t.Errorf("%v sees a chain: %v", w, err)
		}
		if c, err := s.Calls(ctx, w.owner, w.scope, "c", 9); err != nil || len(c) > 0 {
			t.Errorf("%v sees %v: %v", w, c, err)
		}
	}
	if r, err := s.Records(ctx, "x", "s", 0, 9); err != nil || len(r) > 0 {
		t.Errorf("records: %v %v", r, err)
	}
	if r, err := s.Lineage(ctx, "x", "t", 9); err != nil || len(r) > 0 {
		t.Errorf("lineage: %v %v", r, err)
	}
	if c, err := s.Children(ctx, "x", "p"); err != nil || len(c) > 0 {
		t.Errorf("children: %v %v", c, err)
	}
	if e, err := s.Sessions(ctx, "x", time.Time{}, 9); err != nil || len(e) > 0 {
		t.Errorf("sessions: %v %v", e, err)
	}
	_, noTurn := s.Turn(ctx, "x", "t")
	_, noSession := s.Session(ctx, "x", "s")
	if errs.CodeOf(noTurn) != errs.NotFound || errs.CodeOf(noSession) != errs.NotFound {
		t.Errorf("%v, %v", noTurn, noSession)
	}
	put(t, s, records(opened("x", "s", 1), turn("x", "s", "t", "", 2))) // equal ids of another owner are another thing
}

func leases(t *testing.T, s Store) {
	put(t, s, record.Batch{Queue: []record.Ref{{Owner: "o", Session: "s", Turn: "a"}, {Owner: "o", Session: "s", Turn: "b"}, {Owner: "x", Session: "s", Turn: "a"}}})
	put(t, s, record.Batch{Queue: []record.Ref{{Owner: "o", Session: "s", Turn: "a"}}}) // twice is once
	take := func(now, until, limit, want, attempt int) []record.Task {
		t.Helper()
		got, err := s.Lease(ctx, at(now), at(until), limit)
		if err != nil || len(got) != want {
			t.Fatalf("%d tasks, not %d: %v", len(got), want, err)
		}
		for _, g := range got {
			if g.Attempt != attempt || g.Session != "s" || !g.Until.Equal(at(until)) {
				t.Errorf("%+v", g)
			}
		}
		return got
	}
	first := take(1, 10, 2, 2, 1)
	other := take(1, 10, 9, 1, 1)
	take(2, 10, 9, 0, 0)
	if err := s.Release(ctx, first[0].Owner, first[0].Turn, at(5)); err != nil {
		t.Fatal(err)
	}
	take(4, 20, 9, 0, 0)
	take(5, 20, 9, 1, 2)
	put(t, s, record.Batch{Done: []record.Ref{{Owner: other[0].Owner, Turn: other[0].Turn}}})
	take(10, 30, 9, 1, 2) // the lease of first[1] has ended; first[0] is held, other is done
	if err := s.ReleaseAll(ctx); err != nil {
		t.Fatal(err)
	}
	take(10, 30, 9, 2, 3)
}

// Summaries are taken in the order of their turns, whoever's they are and however they were queued.
func oldestFirst(t *testing.T, s Store) {
	for _, q := range []record.Ref{{Owner: "b", Turn: "2"}, {Owner: "a", Turn: "4"}, {Owner: "c", Turn: "1"}, {Owner: "a", Turn: "3"}} {
		q.Session = "s"
		put(t, s, record.Batch{Queue: []record.Ref{q}})
	}
	order := ""
	for i := range 4 {
		got, err := s.Lease(ctx, at(1), at(9+i), 1)
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		order += got[0].Owner + got[0].Turn + " "
	}
	if want := "c1 b2 a3 a4 "; order != want {
		t.Errorf("taken in the order %s, not %s", order, want)
	}
}

func manyWriters(t *testing.T, s Store) {
	const writers, each = 8, 20
	put(t, s, records(opened("o", "s", 1)))
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				id := fmt.Sprintf("t%d_%d", w, i)
				if err := s.Append(ctx, records(turn("o", "s", id, "", 2))); err != nil {
					t.Error(err)
				}
				if err := s.Append(ctx, records(turn("o", "s", id, "", 2))); err == nil { // beside good ones
					t.Error("a turn was opened twice")
				}
				if _, err := s.Turn(ctx, "o", id); err != nil {
					t.Error("not visible after Append: ", err)
				}
			}
		})
	}
	group.Wait()
	if e, err := s.Session(ctx, "o", "s"); err != nil || e.Turns != writers*each {
		t.Errorf("%d turns: %v", e.Turns, err)
	}
}

// Whatever text a client sends comes back and is told from every other.
func anyText(t *testing.T, s Store) {
	for i, text := range []string{"a\x00b", "a\x1b0b", "a\x1b\x1bb", "\x1b", "a' OR ''='", "日本\u2028", "\U0001F600"} {
		o, id := "o "+text, fmt.Sprintf("s%d", i)
		first := opened(o, id, 1)
		first.Body = record.SessionOpened{Root: id, Scope: text, Title: text}
		first.Request, first.Run = text, text
		b := records(first, turn(o, id, "t", "", 2))
		b.Calls = []record.Call{{Owner: o, Scope: text, ID: text, Turn: "t", Session: id}}
		put(t, s, b)
		got, err := s.Session(ctx, o, id)
		if err != nil || got.Title != text || got.Scope != text || got.Owner != o {
			t.Errorf("%q: %+v %v", text, got, err)
		}
		all, err := s.Records(ctx, o, id, 0, 9)
		if err != nil || len(all) != 2 || all[0].Request != text || all[0].Run != text || all[0].Owner != o {
			t.Errorf("%q: %d records: %v", text, len(all), err)
		}
		if c, err := s.Calls(ctx, o, text, text, 9); err != nil || len(c) != 1 {
			t.Errorf("%q: calls %v %v", text, c, err)
		}
	}
}

func survivesClosing(t *testing.T, open Open) {
	dir := t.TempDir()
	s := open(t, dir)
	put(t, s, records(full()...))
	before, err := s.Records(ctx, "o", "s", 0, 99)
	if err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	if err := s.Append(ctx, records(opened("o", "s9", 1))); errs.CodeOf(err) != errs.StorageFailed {
		t.Errorf("a closed store took a record: %v", err)
	}
	s = open(t, dir)
	defer closeStore(t, s)
	after, err := s.Records(ctx, "o", "s", 0, 99)
	if diff := cmp.Diff(before, after); err != nil || diff != "" {
		t.Error(diff, err)
	}
}
