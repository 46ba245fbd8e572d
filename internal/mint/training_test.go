package mint_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/train"
)

// TestInOrder: operations that arrive in any order, each more than once, are carried out
// once and in the order of their numbers: the state is that of a trainer without a service,
// bit for bit.
func TestInOrder(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	model := r.model(t, "o", r.session(t, "o"))
	ops := schedule(12)
	var group sync.WaitGroup
	var mu sync.Mutex
	promises := map[int]mint.Promise{}
	for _, i := range rand.Perm(2 * len(ops)) {
		i %= len(ops)
		group.Go(func() {
			p, err := r.send("o", model, int64(i+1), ops[i])
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if old, there := promises[i]; there && old.Request != p.Request {
				t.Errorf("operation %d has the promises %s and %s", i+1, old.Request, p.Request)
			}
			promises[i] = p
		})
	}
	group.Wait()
	for _, p := range promises {
		r.result(t, "o", p)
	}
	if got, want := r.state(t, "o", model, "end"), alone(t, r.worker, ops); got != want {
		t.Errorf("the state is %s, without the service %s", got, want)
	}
	if m := must[mint.Model](t)(r.Model(ctx, "o", model)); m.Steps != 4 {
		t.Errorf("%d steps", m.Steps)
	}
	// a retry after the end, and its result
	p := must[mint.Promise](t)(r.send("o", model, 1, ops[0]))
	if out := r.result(t, "o", p); out.Output == nil || len(out.Output.Logprobs) != 2 {
		t.Errorf("%+v", out)
	}
}

// TestAnotherKindIsNoRetry: who asks for a step by the number of a pass is told, while the pass waits
// and when it is long done, and does not get the pass's result in its place.
func TestAnotherKindIsNoRetry(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	model := r.model(t, "o", r.session(t, "o"))
	pass := must[mint.Promise](t)(r.send("o", model, 2, op{seed: 1}))
	wrong := func(when string) {
		t.Helper()
		if _, err := r.send("o", model, 2, op{step: true}); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("a step by the number of a pass %s: %v", when, err)
		}
		if _, err := r.Save(ctx, "o", mint.Save{Model: model, Seq: 2, Kind: mint.Training, Name: "a"}); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("a state by the number of a pass %s: %v", when, err)
		}
	}
	wrong("that waits")
	r.result(t, "o", must[mint.Promise](t)(r.send("o", model, 1, op{seed: 2})))
	r.result(t, "o", pass)
	wrong("that is done")
	r.reopen(t)
	wrong("of another process")
	if again := must[mint.Promise](t)(r.send("o", model, 2, op{seed: 1})); again.Request != pass.Request {
		t.Errorf("the retry is %s, not %s", again.Request, pass.Request)
	}
}

// TestUnloadedStaysUnloaded: the number of a model that was unloaded makes no other one in its place,
// whose operations would have the results of the first; and who has no number gets a free one.
func TestUnloadedStaysUnloaded(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	session := r.session(t, "o")
	model := r.model(t, "o", session)
	r.result(t, "o", must[mint.Promise](t)(r.send("o", model, 1, op{seed: 1})))
	r.result(t, "o", must[mint.Promise](t)(r.send("o", model, 2, op{step: true})))
	r.result(t, "o", must[mint.Promise](t)(r.Unload(ctx, "o", model)))
	before := must[mint.Model](t)(r.Model(ctx, "o", model))
	create := mint.CreateModel{Session: session, Base: tiny, Spec: train.Spec{Rank: 2, MLP: true}}
	for range 2 {
		again := must[mint.Promise](t)(r.CreateModel(ctx, "o", create))
		if got := r.result(t, "o", again); got.Model != model {
			t.Errorf("the retry made %s", got.Model)
		}
		if _, err := r.send("o", model, 3, op{seed: 1}); errs.CodeOf(err) != errs.Gone {
			t.Errorf("a pass on a model that was unloaded: %v", err)
		}
		if diff := cmp.Diff(before, must[mint.Model](t)(r.Model(ctx, "o", model))); diff != "" {
			t.Error("the run is another one: " + diff)
		}
		r.reopen(t)
	}
	create.Seq = mint.NoSeq
	if p := must[mint.Promise](t)(r.CreateModel(ctx, "o", create)); p.Model == model {
		t.Error("a model without a number has that of another")
	}
}

// TestGap: what is behind a missing number waits, says so, and goes on when it comes.
func TestGap(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	model := r.model(t, "o", r.session(t, "o"))
	p := must[mint.Promise](t)(r.send("o", model, 2, op{step: true}))
	o := must[mint.Outcome](t)(r.Retrieve(ctx, "o", p.Request, time.Millisecond))
	if o.State != mint.Pending || o.Reason != "operation 1 of this model has not come yet" {
		t.Errorf("%+v", o)
	}
	must[mint.Promise](t)(r.send("o", model, 1, op{seed: 1}))
	r.result(t, "o", p)
}

// TestForwardOnly: a forward pass changes nothing.
func TestForwardOnly(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	model := r.model(t, "o", r.session(t, "o"))
	must[mint.Promise](t)(r.send("o", model, 1, op{seed: 1}))
	p := must[mint.Promise](t)(r.Forward(ctx, "o", mint.Forward{Model: model, Seq: 2, Data: data(9, 1, 5), Loss: crossEntropy, Only: true}))
	must[mint.Promise](t)(r.send("o", model, 3, op{step: true}))
	if out := r.result(t, "o", p).Output; out == nil || len(out.Logprobs[0].Floats) != 5 || out.Metrics["loss:sum"] == 0 {
		t.Errorf("%+v", out)
	}
	if got, want := r.state(t, "o", model, "end"), alone(t, r.worker, []op{{seed: 1}, {step: true}}); got != want {
		t.Error("the forward pass changed the state")
	}
}

// TestBadData fails by its future, as the user's, and leaves the model as it was.
func TestBadData(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	model := r.model(t, "o", r.session(t, "o"))
	bad := data(1, 1, 3)
	bad[0].Tokens[1] = 1 << 20
	r.result(t, "o", must[mint.Promise](t)(r.send("o", model, 1, op{seed: 4})))
	for seq, f := range map[int64]mint.Forward{2: {Data: bad, Loss: crossEntropy}, 3: {Data: data(1, 1, 3), Loss: train.Loss{Name: "nothing"}}} {
		f.Model, f.Seq = model, seq
		o := r.outcome(t, "o", must[mint.Promise](t)(r.Forward(ctx, "o", f)))
		if seq == 2 && (o.State != mint.Failed || o.Failure.Category != mint.ByUser) {
			t.Errorf("%d: %+v", seq, o)
		}
	}
	r.result(t, "o", must[mint.Promise](t)(r.send("o", model, 4, op{step: true})))
	if got, want := r.state(t, "o", model, "end"), alone(t, r.worker, []op{{seed: 4}, {step: true}}); got != want {
		t.Error("refused operations changed the state")
	}
}

// TestOwners: what another owner has does not exist.
func TestOwners(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	session := r.session(t, "o")
	model := r.model(t, "o", session)
	p := must[mint.Promise](t)(r.Save(ctx, "o", mint.Save{Model: model, Seq: 1, Kind: mint.Sampling, Name: "a"}))
	path := r.result(t, "o", p).Path
	s := must[mint.Sampler](t)(r.CreateSampler(ctx, "o", mint.NewSampler{Session: session, Base: tiny}))
	_, send := r.send("p", model, 2, op{step: true})
	_, create := r.CreateModel(ctx, "p", mint.CreateModel{Session: session, Base: tiny, Spec: shape})
	_, retrieve := r.Retrieve(ctx, "p", p.Request, 0)
	_, get := r.Model(ctx, "p", model)
	_, sampler := r.Sampler(ctx, "p", s.ID)
	_, sample := r.Sample(ctx, "p", mint.Sample{Sampler: s.ID, Prompt: []int32{5}, MaxTokens: 1})
	_, read := r.Checkpoint(ctx, "p", path)
	_, load := r.Load(ctx, "p", mint.Load{Session: r.session(t, "p"), Path: path})
	_, _, _, one := r.Session(ctx, "p", session)
	for what, err := range map[string]error{"send": send, "create": create, "retrieve": retrieve, "get": get, "sampler": sampler, "sample": sample, "read": read, "load": load, "session": one,
		"heartbeat": r.Heartbeat(ctx, "p", session), "finish": r.Finish(ctx, "p", session, mint.Success, ""), "cancel": r.Cancel(ctx, "p", p.Request),
		"delete": r.DeleteCheckpoint(ctx, "p", path), "publish": r.Publish(ctx, "p", path, true)} {
		if errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	if all, n, err := r.Models(ctx, "p", mint.Page{}); err != nil || n != 0 || len(all) != 0 {
		t.Errorf("models: %v %v", all, err)
	}
}

// TestRestart: a service that ends with operations unfinished goes on where it was, from the
// journal alone or from a snapshot, bit for bit.
func TestRestart(t *testing.T) {
	e := openEngine(t)
	for name, l := range map[string]mint.Limits{"journal": {SnapshotWork: time.Hour}, "snapshots": {SnapshotWork: time.Nanosecond}, "between": {SnapshotWork: time.Hour, SnapshotSteps: 2}} {
		t.Run(name, func(t *testing.T) {
			r := open(t, e, t.TempDir(), l)
			model := r.model(t, "o", r.session(t, "o"))
			ops := schedule(15)
			var all []mint.Promise
			for i, o := range ops {
				all = append(all, must[mint.Promise](t)(r.send("o", model, int64(i+1), o)))
				if i == 4 || i == 10 {
					r.result(t, "o", all[i-1])
					r.reopen(t)
				}
			}
			r.reopen(t)
			for _, p := range all {
				r.result(t, "o", p)
			}
			if got, want := r.state(t, "o", model, "end"), alone(t, r.worker, ops); got != want {
				t.Errorf("the state is %s, without restarts %s", got, want)
			}
			if m := must[mint.Model](t)(r.Model(ctx, "o", model)); m.Steps != 5 {
				t.Errorf("%d steps", m.Steps)
			}
			if s := r.Stats(); name == "journal" && s.Replayed == 0 || name == "snapshots" && s.Snapshots == 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestPaging: more models than have room in memory, of two owners, each train as alone.
func TestPaging(t *testing.T) {
	takes := stateBytes(t)
	for name, l := range map[string]mint.Limits{"by number": {Resident: 1, Trainers: 2}, "by bytes": {ResidentBytes: takes + takes/2, Trainers: 2}} {
		t.Run(name, func(t *testing.T) { testPaging(t, l) })
	}
}

// TestTooLargeToTrain: an adapter that would take more memory than all may is refused before
// any of it is taken.
func TestTooLargeToTrain(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{ResidentBytes: stateBytes(t) - 1})
	if _, err := r.CreateModel(ctx, "o", mint.CreateModel{Session: r.session(t, "o"), Base: tiny, Spec: shape}); errs.CodeOf(err) != errs.TooLarge {
		t.Errorf("%v", err)
	}
}

// stateBytes is what training an adapter of the tests takes.
func stateBytes(t *testing.T) int64 {
	t.Helper()
	return must[int64](t)(shape.StateBytes(open(t, openEngine(t), t.TempDir(), mint.Limits{}).worker.Shape()))
}

func testPaging(t *testing.T, l mint.Limits) {
	r := open(t, openEngine(t), t.TempDir(), l)
	ops := schedule(7)
	want := alone(t, r.worker, ops)
	type run struct{ owner, model string }
	var runs []run
	for i := range 4 {
		owner := fmt.Sprint("o", i%2)
		runs = append(runs, run{owner, r.model(t, owner, r.session(t, owner))})
	}
	for i, o := range ops {
		for _, m := range runs {
			must[mint.Promise](t)(r.send(m.owner, m.model, int64(i+1), o))
		}
	}
	for _, m := range runs {
		if got := r.state(t, m.owner, m.model, "end"); got != want {
			t.Errorf("%s of %s: the state is %s, not %s", m.model, m.owner, got, want)
		}
	}
	if s := r.Stats(); s.Resident > 3 || s.Snapshots == 0 {
		t.Errorf("%+v", s)
	}
}
