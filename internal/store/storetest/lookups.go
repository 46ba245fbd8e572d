package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/record"
)

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

func after(t *testing.T, s Store) {
	put(t, s, records(full()...))
	put(t, s, records(opened("o", "s2", 9), turn("o", "s2", "u", "", 9), turn("o", "s", "v", "", 10), opened("x", "s", 1)))
	all, err := s.Records(ctx, "o", "s", 0, 99)
	if err != nil {
		t.Fatal(err)
	}
	seen := all[3].Seq
	got, err := s.After(ctx, "o", []record.Mark{{Session: "s2"}, {Session: "s", Seq: seen}}, 99)
	if err != nil || len(got) != len(all)-4+2 {
		t.Fatalf("%d records: %v", len(got), err)
	}
	for i, r := range got {
		if r.Session == "s" && r.Seq <= seen || r.Owner != "o" || r.Blob != nil || i > 0 && r.Seq <= got[i-1].Seq {
			t.Errorf("%+v", r.Head)
		}
	}
	for _, c := range []struct{ owner, from, to, id, want string }{
		{"o", "", "~", "hop_1", "t"}, {"o", "", "~", "req", "t"}, {"x", "", "~", "hop_1", ""}, {"o", "", "~", "hop_", ""}, {"o", "~", "~~", "hop_1", ""}, {"o", "", "", "req", ""},
	} {
		if turn, err := s.Locate(ctx, c.owner, c.from, c.to, c.id); err != nil || turn != c.want {
			t.Errorf("%s of %s is of the turn %q: %v", c.id, c.owner, turn, err)
		}
	}
	if few, err := s.After(ctx, "o", []record.Mark{{Session: "s"}}, 2); err != nil || len(few) != 2 || few[0].ID != all[0].ID {
		t.Errorf("%d records: %v", len(few), err)
	}
	if none, err := s.After(ctx, "o", nil, 9); err != nil || len(none) > 0 {
		t.Errorf("%d records: %v", len(none), err)
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
		if lost, err := s.Lost(ctx, 9); err != nil || len(lost) > 0 {
			t.Errorf("at %d: this process lost %v: %v", second, lost, err)
		}
	}
	check(3, closed("o", "s", "t", 3, record.StatusAwaiting), record.StatusAwaiting, 1)
	check(4, rec("o", "s", "t", "", 4, record.ToolResults{}), record.StatusOpen, 2)
	check(5, closed("o", "s", "t", 5, record.StatusInterrupted), record.StatusAwaiting, 1) // the calls wait again
	check(6, rec("o", "s", "t", "", 6, record.ToolResults{}), record.StatusOpen, 2)
	check(7, closed("o", "s", "t", 7, record.StatusInterrupted), record.StatusAwaiting, 1) // however often
	check(8, rec("o", "s", "t", "", 8, record.ToolResults{}), record.StatusOpen, 2)
	check(9, closed("o", "s", "t", 9, record.StatusDelivered), record.StatusDelivered, 1)
	put(t, s, records(closed("o", "s", "u", 10, record.StatusInterrupted)))
	if st, err := s.Turn(ctx, "o", "u"); err != nil || st.Status != record.StatusInterrupted {
		t.Errorf("%+v %v", st, err)
	}
}

// What is written late, as by a process whose clock is behind, moves no last change back.
func lateRecords(t *testing.T, s Store) {
	put(t, s, records(opened("o", "s", 1), turn("o", "s", "t", "", 5)))
	put(t, s, records(closed("o", "s", "t", 3, record.StatusDelivered)))
	put(t, s, records(turn("o", "s", "u", "", 2)))
	put(t, s, records(runOpened("a", 5)...))
	put(t, s, records(ofRun("a", 3, record.RunNote{Note: record.NoteResumed})))
	for _, id := range []string{"s", "a"} {
		if e, err := s.Session(ctx, "o", id); err != nil || !e.Updated.Equal(at(5)) {
			t.Errorf("session %s: %+v %v", id, e, err)
		}
	}
	if e, err := s.Run(ctx, "o", "run_a"); err != nil || !e.Updated.Equal(at(5)) {
		t.Errorf("run: %+v %v", e, err)
	}
	put(t, s, records(ofRun("a", 6, record.RunNote{Note: record.NoteResumed}), turn("o", "s", "v", "", 7)))
	if e, err := s.Run(ctx, "o", "run_a"); err != nil || !e.Updated.Equal(at(6)) {
		t.Errorf("run: %+v %v", e, err)
	}
	if e, err := s.Session(ctx, "o", "s"); err != nil || !e.Updated.Equal(at(7)) {
		t.Errorf("session: %+v %v", e, err)
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
