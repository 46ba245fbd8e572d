package mint_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/mint"
	"macaron/internal/mint/ledger"
	"macaron/internal/train"
)

// bad is a store that gives the bodies of some operations with one bit changed.
type bad struct {
	ledger.Store
	ops map[string]bool
}

func (b bad) flip(all []ledger.Op, err error) ([]ledger.Op, error) {
	for i, op := range all {
		if b.ops[op.ID] {
			all[i].Body = bytes.Clone(op.Body)
			all[i].Body[len(op.Body)-2] ^= 4
		}
	}
	return all, err
}

func (b bad) Pending(ctx context.Context) ([]ledger.Op, error) { return b.flip(b.Store.Pending(ctx)) }

func (b bad) OpsAfter(ctx context.Context, owner, model string, seq int64) ([]ledger.Op, error) {
	return b.flip(b.Store.OpsAfter(ctx, owner, model, seq))
}

// TestADamagedJournal: what was promised and cannot be read any more fails, and says so; all
// else is carried out. A model whose past cannot be read is lost, and no other.
func TestADamagedJournal(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	damaged := map[string]bool{}
	r.more = func(o *mint.Options) { o.Store = bad{o.Store, damaged} }
	session := r.session(t, "o")
	one, two := r.model(t, "o", session), must[mint.Promise](t)(r.CreateModel(ctx, "o", mint.CreateModel{Session: session, Seq: 1, Base: tiny, Spec: shape})).Model
	second := must[mint.Promise](t)(r.send("o", one, 2, op{seed: 2})) // behind a gap: they are pending
	third := must[mint.Promise](t)(r.send("o", one, 3, op{seed: 3}))
	for i, o := range schedule(3) {
		r.result(t, "o", must[mint.Promise](t)(r.send("o", two, int64(i+1), o)))
	}
	damaged[second.Request], damaged[two+":2"] = true, true
	r.reopen(t)
	r.result(t, "o", must[mint.Promise](t)(r.send("o", one, 1, op{seed: 1})))
	o := r.outcome(t, "o", second)
	if o.State != mint.Failed || o.Failure.Category != mint.ByServer || !strings.Contains(o.Failure.Message, "damaged") {
		t.Errorf("what cannot be read: %+v %+v", o, o.Failure)
	}
	r.result(t, "o", third)
	r.result(t, "o", must[mint.Promise](t)(r.send("o", one, 4, op{step: true})))
	if got, want := r.state(t, "o", one, "end"), alone(t, r.worker, []op{{seed: 1}, {seed: 3}, {step: true}}); got != want {
		t.Errorf("the state is %s, that of the others alone %s", got, want)
	}
	o = r.outcome(t, "o", must[mint.Promise](t)(r.send("o", two, 4, op{seed: 4})))
	if o.State != mint.Failed || o.Failure.Category != mint.ByServer || !strings.Contains(o.Failure.Message, "the state of this model is lost") {
		t.Errorf("a model whose past is damaged: %+v %+v", o, o.Failure)
	}
}

// TestDamagedBlobs: a checkpoint or an adapter with one byte changed is never loaded, and a
// request whose body is a blob fails as one in the journal does.
func TestDamagedBlobs(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	session := r.session(t, "o")
	model := r.model(t, "o", session)
	large := make([]train.Datum, 0, 900)
	for range 30 {
		large = append(large, data(1, 30, 96)...)
	}
	pending := must[mint.Promise](t)(r.Forward(ctx, "o", mint.Forward{Model: model, Seq: 5, Data: large, Loss: crossEntropy}))
	for i, o := range schedule(3) {
		r.result(t, "o", must[mint.Promise](t)(r.send("o", model, int64(i+1), o)))
	}
	p := must[mint.Promise](t)(r.Save(ctx, "o", mint.Save{Model: model, Seq: 4, Kind: mint.Training, Name: "a"}))
	path := r.result(t, "o", p).Path
	spoil(t, r)
	r.reopen(t)
	if o := r.outcome(t, "o", pending); o.State != mint.Failed || o.Failure.Category != mint.ByServer {
		t.Errorf("a body that is damaged: %+v %+v", o, o.Failure)
	}
	load := must[mint.Promise](t)(r.Load(ctx, "o", mint.Load{Session: session, ModelSeq: 1, Path: path, Optimizer: true}))
	made := r.outcome(t, "o", load)
	if made.State == mint.Done {
		made = r.outcome(t, "o", must[mint.Promise](t)(r.send("o", made.Result.Model, mint.NoSeq, op{seed: 1})))
	}
	if made.State != mint.Failed || made.Failure.Category != mint.ByServer {
		t.Errorf("a checkpoint that is damaged: %+v %+v", made, made.Failure)
	}
}

// spoil changes one byte in the middle of every blob.
func spoil(t *testing.T, r *room) {
	t.Helper()
	all := must[[]string](t)(filepath.Glob(filepath.Join(r.home, "mint", "*")))
	if len(all) < 2 {
		t.Fatalf("%d blobs", len(all))
	}
	for _, path := range all {
		raw := must[[]byte](t)(os.ReadFile(path))
		raw[len(raw)/2] ^= 1
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
