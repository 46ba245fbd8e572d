package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
)

func blobOf(s string) ids.Digest { return ids.DigestOf([]byte(s)) }

func mintOp(owner, id string, seq int64) ledger.Op {
	return ledger.Op{Owner: owner, ID: id, Session: "s", Model: "s:train:0", Seq: seq, Kind: "optim_step", State: "pending",
		Body: []byte{0, 1, 2}, Created: at(int(seq))}
}

// mintRows: every row reads back as it was written, is its owner's alone and is replaced by
// its key.
func mintRows(t *testing.T, st Store) {
	m := st.Mint()
	session := ledger.Session{Owner: "o", ID: "s", About: []byte(`{"a":1}`), Created: at(1), Seen: at(2)}
	model := ledger.Model{Owner: "o", ID: "s:train:0", Session: "s", Base: "b", About: []byte(`{}`), Created: at(1), Used: at(2), Steps: 3, Applied: 4,
		Snapshot: blobOf("x"), SnapshotAt: 2, SnapshotSteps: 1, Form: ledger.State}
	sampler := ledger.Sampler{Owner: "o", ID: "s:sample:0", Session: "s", Base: "b", Model: "s:train:0", Adapter: blobOf("y"), Inflight: true, Created: at(1), Used: at(2)}
	check := ledger.Checkpoint{Owner: "o", Path: "tinker://s:train:0/weights/a", Run: "s:train:0", Kind: "weights", Name: "a", Base: "b", About: []byte(`{}`),
		State: blobOf("z"), Bytes: 9, Created: at(1), Expires: at(50), Public: true}
	change := ledger.Change{Sessions: []ledger.Session{session}, Models: []ledger.Model{model}, Samplers: []ledger.Sampler{sampler}, Checkpoints: []ledger.Checkpoint{check}}
	mustWrite(t, m, change)
	same(t, session)(m.Session(ctx, "o", "s"))
	same(t, model)(m.Model(ctx, "o", "s:train:0"))
	same(t, sampler)(m.Sampler(ctx, "o", "s:sample:0"))
	same(t, check)(m.Checkpoint(ctx, check.Path))
	for owner, want := range map[string]bool{"o": true, "p": false} {
		if owns, err := st.OwnsState(ctx, owner, check.State); err != nil || owns != want {
			t.Errorf("the state is %s's: %v, %v", owner, owns, err)
		}
	}
	same(t, check)(m.Last(ctx, "o", "s:train:0", "weights"))
	model.Steps, model.Unloaded, model.Snapshot, model.Form = 5, true, "", ""
	session.Ended, session.Reason, session.Detail = at(60), "success", "é\x00"
	mustWrite(t, m, ledger.Change{Models: []ledger.Model{model}, Sessions: []ledger.Session{session}, Used: []ledger.Sampler{{Owner: "o", ID: sampler.ID, Used: at(40)}}})
	sampler.Used = at(40)
	same(t, model)(m.Model(ctx, "o", "s:train:0"))
	same(t, session)(m.Session(ctx, "o", "s"))
	same(t, sampler)(m.Sampler(ctx, "o", "s:sample:0"))
	for what, err := range map[string]error{
		"session": second(m.Session(ctx, "p", "s")), "model": second(m.Model(ctx, "p", model.ID)), "sampler": second(m.Sampler(ctx, "p", sampler.ID)),
		"last": second(m.Last(ctx, "p", model.ID, "weights")), "op": second(m.Op(ctx, "p", "x")),
	} {
		if errs.CodeOf(err) != errs.NotFound {
			t.Errorf("somebody else's %s: %v", what, err)
		}
	}
	if list, n, err := m.Checkpoints(ctx, "p", "", at(2), ledger.Page{Limit: 9}); err != nil || n != 0 || len(list) != 0 {
		t.Errorf("somebody else's checkpoints: %d %v %v", n, list, err)
	}
	old, kept := check, check
	old.Path, old.Expires, old.Created = check.Path+"-old", at(5), at(0)
	kept.Path, kept.Expires, kept.Created = check.Path+"-kept", time.Time{}, at(2)
	mustWrite(t, m, ledger.Change{Checkpoints: []ledger.Checkpoint{old, kept}})
	for now, want := range map[int][]ledger.Checkpoint{4: {kept, check, old}, 5: {kept, check}, 50: {kept}} {
		for _, run := range []string{"", check.Run} {
			list, n, err := m.Checkpoints(ctx, "o", run, at(now), ledger.Page{Limit: 1})
			rest, all, second := m.Checkpoints(ctx, "o", run, at(now), ledger.Page{Limit: 9, Offset: 1})
			if diff := cmp.Diff(want, append(list, rest...)); err != nil || second != nil || n != len(want) || all != n || diff != "" {
				t.Errorf("at %d there are %d and %d of %q: %v %v %s", now, n, all, run, err, second, diff)
			}
		}
	}
}

// mintOps: a promise is kept once, resolved once, and is among the pending ones until then.
func mintOps(t *testing.T, st Store) {
	m := st.Mint()
	for _, owner := range []string{"o", "p"} {
		if _, there, err := m.Promise(ctx, mintOp(owner, "s:train:0:1", 1)); err != nil || there {
			t.Fatal(there, err)
		}
	}
	again := mintOp("o", "s:train:0:1", 1)
	again.Body = []byte("other")
	old, there, err := m.Promise(ctx, again)
	if diff := cmp.Diff(mintOp("o", "s:train:0:1", 1), old); err != nil || !there || diff != "" {
		t.Errorf("the same name: %v %v %s", there, err, diff)
	}
	done := mintOp("o", "s:train:0:1", 1)
	done.State, done.Result, done.Bytes, done.Done = "done", []byte{7}, 1, at(9)
	mustWrite(t, m, ledger.Change{Resolve: []ledger.Op{done}})
	mustWrite(t, m, ledger.Change{Canceled: []ledger.Name{{Owner: "o", ID: done.ID}}}) // too late
	same(t, done)(m.Op(ctx, "o", done.ID))
	model := ledger.Model{Owner: "o", ID: "s:train:0", Session: "s", Base: "b", About: []byte(`{}`), Steps: 8}
	if err := m.Write(ctx, ledger.Change{Models: []ledger.Model{model}, Resolve: []ledger.Op{done}}); err == nil {
		t.Error("an operation was resolved twice")
	}
	if _, err := m.Model(ctx, "o", model.ID); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("half of a change was written: %v", err)
	}
	if all, err := m.Pending(ctx); err != nil || len(all) != 1 || all[0].Owner != "p" {
		t.Errorf("pending: %v %v", all, err)
	}
	if all, err := m.Resolved(ctx, "o", "s:sample:0"); err != nil || len(all) != 0 {
		t.Errorf("resolved of a sampler that has none: %v %v", all, err)
	}
	made := mintOp("o", "s:sample:0:0", 0)
	made.Sampler, made.Model, made.State, made.Result, made.Done = "s:sample:0", "", "done", []byte{1}, at(3)
	sampler := ledger.Sampler{Owner: "o", ID: "s:sample:0", Session: "s", Base: "b"}
	mustWrite(t, m, ledger.Change{Samplers: []ledger.Sampler{sampler}, Promises: []ledger.Op{made}})
	other := made
	other.Result, other.Done = []byte{2}, at(4)
	mustWrite(t, m, ledger.Change{Promises: []ledger.Op{other, mintOp("o", "s:sample:0:1", 1)}})
	same(t, made)(m.Op(ctx, "o", made.ID))
	short := made
	short.Body, short.Result = nil, nil
	if all, err := m.Resolved(ctx, "o", "s:sample:0"); err != nil || !cmp.Equal(all, []ledger.Op{short}) {
		t.Errorf("resolved of a sampler: %+v %v", all, err)
	}
	mustWrite(t, m, ledger.Change{Behind: []ledger.Mark{{Owner: "o", Model: "s:train:0", Seq: 1}, {Owner: "p", Model: "s:train:0", Seq: 1}}})
	done.Body = nil
	same(t, done)(m.Op(ctx, "o", done.ID))
	same(t, mintOp("p", "s:train:0:1", 1))(m.Op(ctx, "p", done.ID)) // it is pending
	unwanted := mintOp("p", "s:train:0:1", 1)
	mustWrite(t, m, ledger.Change{Canceled: []ledger.Name{{Owner: "p", ID: unwanted.ID}, {Owner: "p", ID: "none"}}})
	unwanted.Category = ledger.Canceled
	same(t, unwanted)(m.Op(ctx, "p", unwanted.ID))
}

// mintOrder: lists have their order and their parts, operations that of their numbers.
func mintOrder(t *testing.T, st Store) {
	m := st.Mint()
	var group sync.WaitGroup
	for seq := range int64(20) {
		group.Go(func() {
			if _, _, err := m.Promise(ctx, mintOp("o", fmt.Sprint("s:train:0:", seq+1), seq+1)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	ops, err := m.OpsAfter(ctx, "o", "s:train:0", 5)
	if err != nil || len(ops) != 15 || !slices.IsSortedFunc(ops, func(a, b ledger.Op) int { return int(a.Seq - b.Seq) }) || ops[0].Seq != 6 {
		t.Errorf("%d operations after 5: %v", len(ops), err)
	}
	var c ledger.Change
	for i := range 5 {
		c.Sessions = append(c.Sessions, ledger.Session{Owner: "o", ID: fmt.Sprint("s", i), About: []byte(`{}`), Created: at(i + 1)})
	}
	mustWrite(t, m, c)
	list, n, err := m.Sessions(ctx, "o", ledger.Page{Limit: 2, Offset: 1})
	if err != nil || n != 5 || len(list) != 2 || list[0].ID != "s3" || list[1].ID != "s2" {
		t.Errorf("a part of %d: %v %v", n, list, err)
	}
}

// mintEnd: what has expired, is idle or belongs to what has ended is found, and what rows
// reach is told.
func mintEnd(t *testing.T, st Store) {
	m := st.Mint()
	c := ledger.Change{}
	for i, ended := range []time.Time{{}, at(10), at(30)} {
		id := fmt.Sprint("s", i)
		c.Sessions = append(c.Sessions, ledger.Session{Owner: "o", ID: id, About: []byte(`{}`), Ended: ended})
		c.Models = append(c.Models, ledger.Model{Owner: "o", ID: id + ":train:0", Session: id, About: []byte(`{}`), Snapshot: blobOf("snap" + id)})
		c.Samplers = append(c.Samplers, ledger.Sampler{Owner: "o", ID: id + ":sample:0", Session: id, Model: id + ":train:0", Adapter: blobOf("adapter" + id), Used: at(i)})
		c.Checkpoints = append(c.Checkpoints, ledger.Checkpoint{Owner: "o", Path: id, About: []byte(`{}`), State: blobOf("state" + id), Expires: ended})
	}
	mustWrite(t, m, c)
	for i := range 3 {
		op := mintOp("o", fmt.Sprintf("s%d:train:0:1", i), 1)
		op.Session, op.Model, op.Body, op.BodyBlob = fmt.Sprint("s", i), fmt.Sprintf("s%d:train:0", i), nil, blobOf(fmt.Sprint("body", i))
		if _, _, err := m.Promise(ctx, op); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := m.Living(ctx); err != nil || len(all) != 1 || all[0].ID != "s0" {
		t.Errorf("living: %v %v", all, err)
	}
	if all, err := m.Expired(ctx, at(10)); err != nil || len(all) != 1 || all[0].Path != "s1" {
		t.Errorf("expired: %v %v", all, err)
	}
	if all, err := m.Idle(ctx, at(1)); err != nil || len(all) != 1 || all[0].ID != "s0:sample:0" {
		t.Errorf("idle: %v %v", all, err)
	}
	for i, state := range []string{"done", "done", "pending"} { // of no session
		op := mintOp("o", fmt.Sprint("single", i), 1)
		op.Session, op.State = "", state
		if state == "done" {
			op.Done = at(10 + 20*i)
		}
		if _, _, err := m.Promise(ctx, op); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := m.Forget(ctx, at(20)); err != nil || n != 3 {
		t.Errorf("%d forgotten: %v", n, err)
	}
	got := map[ids.Digest]bool{}
	if err := m.Reachable(ctx, func(d ids.Digest) error { got[d] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	want := map[ids.Digest]bool{blobOf("states1"): true}
	for _, i := range []string{"0", "2"} {
		for _, what := range []string{"snaps", "adapters", "states", "body"} {
			want[blobOf(what+i)] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reachable (-want +got):\n%s", diff)
	}
}

// mintHold: one process at a time holds the work, and another one when it is silent. A hold
// whose time is over when it is asked for stands for one that was not renewed.
func mintHold(t *testing.T, st Store) {
	m := st.Mint()
	for i, c := range []struct {
		who  string
		long time.Duration
		want bool
	}{{"a", time.Hour, true}, {"b", time.Hour, false}, {"a", time.Hour, true}, {"b", time.Hour, false}, {"a", -time.Hour, true}, {"b", time.Hour, true}, {"a", time.Hour, false}} {
		now := time.Now()
		if got, err := m.Hold(ctx, now.Add(c.long), now, c.who); err != nil || got != c.want {
			t.Errorf("%d: %v %v", i, got, err)
		}
	}
}

func mustWrite(t *testing.T, m ledger.Store, c ledger.Change) {
	t.Helper()
	if err := m.Write(context.Background(), c); err != nil {
		t.Fatal(err)
	}
}

func same[T any](t *testing.T, want T) func(T, error) {
	t.Helper()
	return func(got T, err error) {
		t.Helper()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

func second[T any](_ T, err error) error { return err }
