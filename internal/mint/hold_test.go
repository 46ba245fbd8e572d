package mint_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/mint/ledger"
)

// faulty is a store that fails where a test says so.
type faulty struct {
	ledger.Store
	promise func(ledger.Op) error
	write   func(ledger.Change) error
	hung    atomic.Bool // whoever asks for the work gets no answer
}

func (f *faulty) Hold(ctx context.Context, until, now time.Time, who string) (bool, error) {
	if f.hung.Load() {
		<-ctx.Done()
		return false, ctx.Err()
	}
	return f.Store.Hold(ctx, until, now, who)
}

func (f *faulty) Promise(ctx context.Context, op ledger.Op) (ledger.Op, bool, error) {
	if f.promise != nil {
		if err := f.promise(op); err != nil {
			return ledger.Op{}, false, err
		}
	}
	return f.Store.Promise(ctx, op)
}

func (f *faulty) Write(ctx context.Context, c ledger.Change) error {
	if f.write != nil {
		if err := f.write(c); err != nil {
			return err
		}
	}
	return f.Store.Write(ctx, c)
}

var errFull = errs.New(errs.StorageFull, "the disk is full", "")

// TestCreatedAsOne: a model and its promise are written together: after a failure there is
// neither, and the same number makes it.
func TestCreatedAsOne(t *testing.T) {
	r := &room{}
	*r = *open(t, openEngine(t), t.TempDir(), mint.Limits{})
	f := &faulty{promise: func(ledger.Op) error { return errors.New("not a promise of its own") }}
	r.more = func(o *mint.Options) { f.Store = o.Store; o.Store = f }
	r.reopen(t)
	session := r.session(t, "o")
	ask := mint.CreateModel{Session: session, Base: tiny, Spec: shape}
	f.write = func(ledger.Change) error { return errFull }
	if _, err := r.CreateModel(ctx, "o", ask); errs.CodeOf(err) != errs.StorageFull {
		t.Errorf("%v", err)
	}
	f.write = nil
	p := must[mint.Promise](t)(r.CreateModel(ctx, "o", ask))
	if again := must[mint.Promise](t)(r.CreateModel(ctx, "o", ask)); again.Request != p.Request {
		t.Errorf("%v and %v", p, again)
	}
	r.result(t, "o", p)
	r.reopen(t)
	r.result(t, "o", must[mint.Promise](t)(r.CreateModel(ctx, "o", ask)))
	if _, n, err := r.Models(ctx, "o", mint.Page{}); err != nil || n != 1 {
		t.Errorf("%d models: %v", n, err)
	}
}

// TestUnseeded: models without a seed begin differently, and each the same again after a
// restart.
func TestUnseeded(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	session := r.session(t, "o")
	var seeds []uint64
	for n := range int64(2) {
		ask := mint.CreateModel{Session: session, Seq: n, Base: tiny, Spec: shape, Unseeded: true}
		made := r.result(t, "o", must[mint.Promise](t)(r.CreateModel(ctx, "o", ask))).Model
		r.result(t, "o", must[mint.Promise](t)(r.CreateModel(ctx, "o", ask)))
		seeds = append(seeds, must[mint.Model](t)(r.Model(ctx, "o", made)).Spec.Seed)
	}
	r.reopen(t)
	all, _, err := r.Models(ctx, "o", mint.Page{})
	if err != nil || len(all) != 2 || seeds[0] == seeds[1] {
		t.Fatalf("%v, seeds %d", err, seeds)
	}
	if a, b := all[0].Spec.Seed, all[1].Spec.Seed; a != seeds[0] && a != seeds[1] || b != seeds[0] && b != seeds[1] || a == b {
		t.Errorf("seeds %d and %d after a restart, not %d", a, b, seeds)
	}
}

// TestUnloadAgain: a retry of an unload gets its promise, also after it was kept and after a
// restart; everything else is told that the model is gone.
func TestUnloadAgain(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	model := r.model(t, "o", r.session(t, "o"))
	must[mint.Promise](t)(r.send("o", model, 1, op{seed: 1}))
	p := must[mint.Promise](t)(r.Unload(ctx, "o", model))
	for range 2 {
		if out := r.result(t, "o", p); out.Model != model {
			t.Errorf("%+v", out)
		}
		if again := must[mint.Promise](t)(r.Unload(ctx, "o", model)); again.Request != p.Request {
			t.Errorf("%s, and again %s", p.Request, again.Request)
		}
		if _, err := r.send("o", model, 3, op{step: true}); errs.CodeOf(err) != errs.Gone {
			t.Errorf("a step: %v", err)
		}
		if _, err := r.Unload(ctx, "p", model); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("somebody else's: %v", err)
		}
		r.reopen(t)
	}
}

// TestCursor: what was resolved before a restart, or is out of memory, is told to whoever
// asks with an old cursor; with a new one nothing comes twice.
func TestCursor(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{KeptBytes: 1})
	session := r.session(t, "o")
	sampler := must[mint.Sampler](t)(r.CreateSampler(ctx, "o", mint.NewSampler{Session: session, Base: tiny})).ID
	ask := func(seq int64) {
		t.Helper()
		r.result(t, "o", must[mint.Promise](t)(r.Sample(ctx, "o", mint.Sample{Sampler: sampler, Seq: seq, Prompt: []int32{5, 6}, MaxTokens: 2, Temperature: 1})))
	}
	finished := func(cursor int64) (map[string]bool, int64) {
		t.Helper()
		all, next, err := r.Finished(ctx, "o", sampler, cursor, 0)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, o := range all {
			if o.State != mint.Done {
				t.Errorf("%+v", o)
			}
			names[o.Request] = true
		}
		return names, next
	}
	for seq := range int64(5) {
		ask(seq)
	}
	all, old := finished(0)
	if len(all) != 5 {
		t.Errorf("%v", all)
	}
	if more, _ := finished(old); len(more) != 0 {
		t.Errorf("again: %v", more)
	}
	ask(5)
	ask(6)
	r.reopen(t)
	more, next := finished(old)
	if !more[sampler+":5"] || !more[sampler+":6"] {
		t.Errorf("what was resolved behind the cursor before the restart is not in %v", more)
	}
	if again, _ := finished(next); len(again) != 0 {
		t.Errorf("again: %v", again)
	}
	ask(7)
	if last, _ := finished(next); len(last) == 0 || !last[sampler+":7"] {
		t.Errorf("the last: %v", last)
	}
}

// TestHoldLost: a process that loses the work stops, waits for it, and goes on with it where
// the other one has left it; nothing that was promised is lost meanwhile.
func TestHoldLost(t *testing.T) {
	r := &room{}
	*r = *open(t, openEngine(t), t.TempDir(), mint.Limits{Lease: 3 * time.Second})
	r.more = func(o *mint.Options) { o.Instance = "one" }
	r.clock.pass(time.Minute)
	r.reopen(t)
	session := r.session(t, "o")
	model := r.model(t, "o", session)
	ops := schedule(6)
	for i := range 3 {
		r.result(t, "o", must[mint.Promise](t)(r.send("o", model, int64(i+1), ops[i])))
	}
	now := r.clock.Now()
	if held, err := r.store.Mint().Hold(ctx, now.Add(2*time.Hour), now.Add(time.Hour), "two"); err != nil || !held {
		t.Fatal(held, err)
	}
	refused := func() error { _, err := r.send("o", model, 4, ops[3]); return err }
	wait(t, func() bool { return errs.CodeOf(refused()) == errs.UpstreamUnavailable })
	r.clock.pass(3 * time.Hour) // the other one is silent
	wait(t, func() bool { return refused() == nil })
	for i := 4; i < 6; i++ {
		must[mint.Promise](t)(r.send("o", model, int64(i+1), ops[i]))
	}
	if got, want := r.state(t, "o", model, "end"), alone(t, r.worker, ops); got != want {
		t.Errorf("the state is %s, undisturbed %s", got, want)
	}
}

// TestHoldUnanswered: a process whose database hangs gives the work up before its lease ends, and
// takes it again when there is an answer.
func TestHoldUnanswered(t *testing.T) {
	r := &room{}
	*r = *open(t, openEngine(t), t.TempDir(), mint.Limits{Lease: 3 * time.Second})
	f := &faulty{}
	r.more = func(o *mint.Options) { f.Store = o.Store; o.Store = f }
	r.reopen(t)
	session := r.session(t, "o")
	refused := func() error {
		_, err := r.CreateModel(ctx, "o", mint.CreateModel{Session: session, Base: tiny, Spec: shape})
		return err
	}
	f.hung.Store(true)
	wait(t, func() bool { return errs.CodeOf(refused()) == errs.UpstreamUnavailable })
	f.hung.Store(false)
	wait(t, func() bool { return refused() == nil })
}

// wait waits until something holds.
func wait(t *testing.T, holds func() bool) {
	t.Helper()
	for range 600 {
		if holds() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("it never is so")
}

// TestFullDiskIsTold: a promise that waits for a full disk says so, and is kept when there is room.
func TestFullDiskIsTold(t *testing.T) {
	r := &room{}
	*r = *open(t, openEngine(t), t.TempDir(), mint.Limits{})
	f, full := &faulty{}, atomic.Bool{}
	f.write = func(c ledger.Change) error {
		if full.Load() && len(c.Resolve) > 0 {
			return errFull
		}
		return nil
	}
	r.more = func(o *mint.Options) { f.Store = o.Store; o.Store = f }
	r.reopen(t)
	made := must[mint.Promise](t)(r.CreateModel(ctx, "o", mint.CreateModel{Session: r.session(t, "o"), Base: tiny, Spec: shape}))
	r.result(t, "o", made)
	full.Store(true)
	p := must[mint.Promise](t)(r.OptimStep(ctx, "o", mint.OptimStep{Model: made.Model, Seq: 1, Adam: adam}))
	for o := (mint.Outcome{}); !strings.Contains(o.Reason, "the disk is full"); {
		if o = must[mint.Outcome](t)(r.Retrieve(ctx, "o", p.Request, time.Millisecond)); o.State != mint.Pending {
			t.Fatalf("%+v", o)
		}
	}
	full.Store(false)
	r.clock.pass(2 * time.Second)
	r.result(t, "o", p)
}
