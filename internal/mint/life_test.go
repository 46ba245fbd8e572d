package mint_test

import (
	"testing"
	"time"

	"macaron/internal/errs"
	"macaron/internal/mint"
)

func (r *room) tend(t *testing.T, pass time.Duration) {
	t.Helper()
	r.clock.pass(pass)
	r.age(t)
	if err := r.Tend(ctx, true); err != nil {
		t.Fatal(err)
	}
}

// TestSilence: a session that is heard of lives; a silent one ends with its models and what
// waits, its results stay for the grace, and then it leaves nothing but checkpoints.
func TestSilence(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{SessionExpiry: time.Minute, Grace: time.Hour})
	session := r.session(t, "o")
	model := r.model(t, "o", session)
	done := must[mint.Promise](t)(r.send("o", model, 1, op{seed: 1}))
	r.result(t, "o", done)
	kept := r.save(t, "o", mint.Save{Model: model, Kind: mint.Sampling, Name: "kept"})
	behind := must[mint.Promise](t)(r.send("o", model, 9, op{seed: 1}))
	for range 3 {
		r.tend(t, 40*time.Second)
		if err := r.Heartbeat(ctx, "o", session); err != nil {
			t.Fatal(err)
		}
	}
	r.tend(t, 61*time.Second)
	if err := r.Heartbeat(ctx, "o", session); errs.CodeOf(err) != errs.Gone {
		t.Errorf("a silent session: %v", err)
	}
	if _, err := r.send("o", model, 3, op{step: true}); errs.CodeOf(err) != errs.Gone {
		t.Errorf("a step: %v", err)
	}
	if o := r.outcome(t, "o", behind); o.State != mint.Failed {
		t.Errorf("what was behind a gap: %+v", o)
	}
	r.tend(t, 30*time.Minute)
	r.result(t, "o", done)
	s, _, _, err := r.Session(ctx, "o", session)
	if err != nil || s.Reason != mint.Expired || s.Ended.IsZero() {
		t.Errorf("%v %+v", err, s)
	}
	r.tend(t, 31*time.Minute)
	if _, err := r.Retrieve(ctx, "o", done.Request, 0); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("a result after the grace: %v", err)
	}
	r.tend(t, time.Second)
	if _, err := r.Archive(ctx, "o", kept.Path); err != nil || r.files(t) != 1 {
		t.Errorf("%d blobs are left, not the checkpoint's alone: %v", r.files(t), err)
	}
	if n := r.Stats(); n.Sessions != 0 || n.Models != 0 || n.Pending != 0 {
		t.Errorf("%+v", n)
	}
}

// TestCheckpoints: names are taken once unless asked to overwrite; what has a time to live
// dies; copies and public ones live on their own.
func TestCheckpoints(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{SessionExpiry: 1000 * time.Hour})
	session := r.session(t, "o")
	model := r.model(t, "o", session)
	one := r.save(t, "o", mint.Save{Model: model, Kind: mint.Training, Name: "a", TTL: 2 * time.Hour})
	again := mint.Save{Model: model, Seq: mint.NoSeq, Kind: mint.Training, Name: "a"}
	if o := r.outcome(t, "o", must[mint.Promise](t)(r.Save(ctx, "o", again))); o.State != mint.Failed || o.Failure.Category != mint.ByUser {
		t.Errorf("a name that is taken: %+v", o)
	}
	for _, ttl := range []time.Duration{time.Minute, -1, 11 * 366 * 24 * time.Hour} {
		if _, err := r.Save(ctx, "o", mint.Save{Model: model, Seq: mint.NoSeq, Kind: mint.Training, Name: "b", TTL: ttl}); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%v to live: %v", ttl, err)
		}
	}
	for _, name := range []string{"../a", "a/b", ".a", "a b", string(make([]byte, 129))} {
		if _, err := r.Save(ctx, "o", mint.Save{Model: model, Seq: mint.NoSeq, Kind: mint.Training, Name: name}); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("the name %q: %v", name, err)
		}
	}
	must[mint.Promise](t)(r.send("o", model, mint.NoSeq, op{seed: 1}))
	must[mint.Promise](t)(r.send("o", model, mint.NoSeq, op{step: true}))
	before := must[mint.Checkpoint](t)(r.Checkpoint(ctx, "o", one.Path))
	over := r.save(t, "o", mint.Save{Model: model, Kind: mint.Training, Name: "a", TTL: 2 * time.Hour, Overwrite: true})
	if over.Path != one.Path || over.Bytes <= before.Bytes {
		t.Errorf("overwritten: %+v, before %+v", over, before)
	}
	if _, err := r.Checkpoint(ctx, "p", one.Path); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("somebody else's: %v", err)
	}
	if err := r.Publish(ctx, "o", one.Path, true); err != nil {
		t.Fatal(err)
	}
	theirs := r.session(t, "p")
	copied := must[mint.Checkpoint](t)(r.Copy(ctx, "p", mint.Copy{Source: one.Path, Session: theirs}))
	if same := must[mint.Checkpoint](t)(r.Copy(ctx, "p", mint.Copy{Source: one.Path, Session: theirs})); same.Path != copied.Path || copied.Path == one.Path || copied.Public {
		t.Errorf("copied to %+v and %+v", copied, same)
	}
	if err := r.DeleteCheckpoint(ctx, "p", one.Path); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("somebody deletes what is public: %v", err)
	}
	if err := r.SetTTL(ctx, "p", copied.Path, 0); err != nil {
		t.Fatal(err)
	}
	r.clock.pass(3 * time.Hour) // before anything is tidied
	if _, err := r.Checkpoint(ctx, "o", one.Path); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("its time is over: %v", err)
	}
	if list, n, err := r.Checkpoints(ctx, "o", "", mint.Page{Offset: 1}); err != nil || n != 0 || len(list) != 0 {
		t.Errorf("expired, behind the first: %d %v %v", n, list, err)
	}
	r.tend(t, 0)
	if list, n, err := r.Checkpoints(ctx, "o", "", mint.Page{}); err != nil || n != 0 || len(list) != 0 {
		t.Errorf("left: %v %v", list, err)
	}
	p := must[mint.Promise](t)(r.Load(ctx, "p", mint.Load{Session: theirs, ModelSeq: 5, Path: "mint://" + copied.Path[len("tinker://"):], Optimizer: true}))
	loaded := r.result(t, "p", p).Model
	if got, want := r.state(t, "p", loaded, "end"), alone(t, r.worker, []op{{seed: 1}, {step: true}}); got != want {
		t.Errorf("the copy is %s, not %s", got, want)
	}
}

// TestLimits: what does not fit is refused for now, with a time to come again.
func TestLimits(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{Sessions: 1, Models: 1, Futures: 3, Ahead: 10, AheadBytes: 64 << 10})
	session := r.session(t, "o")
	model := r.model(t, "o", session)
	for seq := int64(2); seq < 5; seq++ {
		must[mint.Promise](t)(r.send("o", model, seq, op{step: true}))
	}
	_, sessions := r.CreateSession(ctx, "o", mint.NewSession{})
	_, models := r.CreateModel(ctx, "o", mint.CreateModel{Session: session, Seq: 1, Base: tiny, Spec: shape})
	_, futures := r.send("o", model, 5, op{step: true})
	other := r.model(t, "p", r.session(t, "p"))
	_, ahead := r.send("p", other, 11+1, op{step: true})
	_, bytes := r.Forward(ctx, "p", mint.Forward{Model: other, Seq: 2, Data: data(1, 40, 200), Loss: crossEntropy})
	for what, err := range map[string]error{"sessions": sessions, "models": models, "futures": futures, "ahead": ahead, "bytes": bytes} {
		if e := errs.As(err); e == nil || e.Code != errs.Overloaded || e.RetryAfter == 0 {
			t.Errorf("%s: %v", what, err)
		}
	}
	if again, err := r.send("o", model, 4, op{step: true}); err != nil || again.Request == "" {
		t.Errorf("a retry of what is promised: %v", err)
	}
	r.result(t, "p", must[mint.Promise](t)(r.send("p", other, 1, op{seed: 1}))) // there is room for others
}
