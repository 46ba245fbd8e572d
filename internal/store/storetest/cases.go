package storetest

import (
	"errors"
	"fmt"
	"sync"
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

func lineage(t *testing.T, s Store) {
	put(t, s, records(opened("o", "s", 1), turn("o", "s", "a", "", 2), turn("o", "s", "b", "a", 3), turn("o", "s", "b2", "a", 4), opened("o", "s2", 5), turn("o", "s2", "c", "b", 6)))
	put(t, s, records(closed("o", "s", "a", 7, record.StatusDelivered))) // later than its children
	for _, c := range []struct {
		turn  string
		depth int
		want  []string
	}{{"c", 9, []string{"a", "b", "c", "a"}}, {"c", 2, []string{"b", "c"}}, {"b2", 9, []string{"a", "b2", "a"}}, {"none", 9, nil}} {
		got, err := s.Lineage(ctx, "o", c.turn, c.depth)
		if err != nil {
			t.Fatal(err)
		}
		var turns []string
		for _, r := range got {
			turns = append(turns, r.Turn)
		}
		if diff := cmp.Diff(c.want, turns); diff != "" {
			t.Errorf("%s to depth %d: %s", c.turn, c.depth, diff)
		}
	}
	children, err := s.Children(ctx, "o", "a")
	if err != nil || len(children) != 2 || children[0].Turn != "b" || children[1].Turn != "b2" || children[0].Scope != "k" {
		t.Errorf("children: %+v %v", children, err)
	}
	if c, err := s.Children(ctx, "o", ""); err != nil || len(c) != 0 {
		t.Errorf("the children of no turn are %v %v", c, err)
	}
}

func status(t *testing.T, s Store) {
	put(t, s, records(opened("o", "s", 1), turn("o", "s", "t", "", 2), turn("o", "s", "u", "", 2)))
	check := func(second int, r record.Record, want record.Status, open int) {
		t.Helper()
		put(t, s, records(r))
		st, err := s.Turn(ctx, "o", "t")
		if err != nil || st.Status != want || st.Session != "s" || st.Scope != "k" {
			t.Errorf("at %d: %+v %v, not %s", second, st, err, want)
		}
		if all, err := s.Open(ctx, 9); err != nil || len(all) != open {
			t.Errorf("at %d: open %v %v", second, all, err)
		}
	}
	check(3, closed("o", "s", "t", 3, record.StatusAwaiting), record.StatusAwaiting, 1)
	check(4, rec("o", "s", "t", "", 4, record.ToolResults{}), record.StatusOpen, 2)
	check(5, closed("o", "s", "t", 5, record.StatusInterrupted), record.StatusAwaiting, 1) // the calls wait again
	check(6, rec("o", "s", "t", "", 6, record.ToolResults{}), record.StatusOpen, 2)
	check(7, closed("o", "s", "t", 7, record.StatusDelivered), record.StatusDelivered, 1)
	put(t, s, records(closed("o", "s", "u", 8, record.StatusInterrupted)))
	if st, err := s.Turn(ctx, "o", "u"); err != nil || st.Status != record.StatusInterrupted {
		t.Errorf("%+v %v", st, err)
	}
}

func lastChain(t *testing.T, s Store) {
	hash := func(i int) [32]byte { return [32]byte{byte(i), byte(i >> 8), 1} }
	var b record.Batch
	for i, c := range []record.Chain{{Turn: "t1", Session: "s1", End: true}, {Turn: "t2", Session: "s2", Messages: 3}, {Turn: "t3", Session: "s1", End: true}} {
		c.Owner, c.Scope, c.Hash = "o", "k", hash(7)
		if i == 1 {
			b.Chains = append(b.Chains, record.Chain{Owner: "o", Scope: "k", Hash: hash(2), Turn: "t0", Session: "s0"})
		}
		b.Chains = append(b.Chains, c)
	}
	put(t, s, b)
	ask := make([][32]byte, 600) // more than one query takes
	for i := range ask {
		ask[i] = hash(i)
	}
	check := func(session string, limit, want int, turns ...string) {
		t.Helper()
		i, found, err := s.LastChain(ctx, "o", "k", session, ask, limit)
		var got []string
		for _, c := range found {
			got = append(got, c.Turn)
			if i < 0 || c.Hash != ask[i] || c.Owner != "o" || c.Scope != "k" || c.End == (c.Messages == 3) {
				t.Errorf("%+v", c)
			}
		}
		if diff := cmp.Diff(turns, got); err != nil || i != want || diff != "" {
			t.Errorf("at %d: %s %v", i, diff, err)
		}
	}
	check("", 9, 7, "t3", "t2", "t1")
	check("s2", 9, 7, "t2", "t3", "t1")
	check("s1", 1, 7, "t3")
	ask = ask[:7]
	if i, found, err := s.LastChain(ctx, "o", "k", "", ask, 9); err != nil || i != 2 || len(found) != 1 {
		t.Errorf("%d %v %v", i, found, err)
	}
	ask = ask[:2]
	check("", 9, -1)
	ask = nil
	check("", 9, -1)
}

func calls(t *testing.T, s Store) {
	put(t, s, record.Batch{Calls: []record.Call{
		{Owner: "o", Scope: "k", ID: "c", Turn: "t1", Session: "s", Messages: 1}, {Owner: "o", Scope: "k", ID: "c", Turn: "t2", Session: "s", Messages: 3},
		{Owner: "o", Scope: "k", ID: "d", Turn: "t1", Session: "s", Messages: 1},
	}})
	got, err := s.Calls(ctx, "o", "k", "c", 9)
	want := []record.Call{{Owner: "o", Scope: "k", ID: "c", Turn: "t2", Session: "s", Messages: 3}, {Owner: "o", Scope: "k", ID: "c", Turn: "t1", Session: "s", Messages: 1}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(diff, err)
	}
	if got, err := s.Calls(ctx, "o", "k", "c", 1); err != nil || len(got) != 1 {
		t.Errorf("%v %v", got, err)
	}
}

func sessionsByChange(t *testing.T, s Store) {
	put(t, s, records(opened("o", "s1", 1), opened("o", "s2", 2), opened("o", "s3", 3)))
	put(t, s, records(turn("o", "s1", "t", "", 4)))
	list := func(before time.Time, limit int) (all []string) {
		t.Helper()
		got, err := s.Sessions(ctx, "o", before, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range got {
			all = append(all, fmt.Sprintf("%s %d", e.Session, e.Turns))
		}
		return all
	}
	if diff := cmp.Diff([]string{"s1 1", "s3 0", "s2 0"}, list(time.Time{}, 9)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"s3 0"}, list(at(4), 1)); diff != "" {
		t.Error(diff)
	}
	got, err := s.Session(ctx, "o", "s1")
	want := record.SessionState{Owner: "o", Scope: "k", Session: "s1", Root: "s1", Title: "of s1", Opened: at(1), Updated: at(4), Turns: 1}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(diff, err)
	}
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
