package mint_test

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint"
	"macaron/internal/mint/blob"
	"macaron/internal/mint/catalogue"
)

// shelf publishes into a real catalogue.
type shelf struct{ *catalogue.Catalogue }

func (s shelf) Publish(ctx context.Context, owner string, r mint.Revision) (ids.Digest, error) {
	p, err := s.Catalogue.Publish(ctx, owner, catalogue.Draft{Files: catalogue.Files{Config: r.Config, Tensors: r.Tensors}, Name: path.Base(r.Path),
		Parent: r.Parent, Checkpoint: r.Checkpoint, Data: r.Data, Recipe: r.Recipe, Metrics: r.Metrics})
	return p.Hash, err
}

// publishing is a room whose adapters go into a catalogue.
func publishing(t *testing.T) (*room, *catalogue.Catalogue) {
	t.Helper()
	r := &room{home: t.TempDir()}
	*r = *open(t, openEngine(t), r.home, mint.Limits{})
	c := must[*catalogue.Catalogue](t)(catalogue.Open(catalogue.Options{Home: r.home, Store: r.store, Clock: r.clock, Parents: 8, State: func(d ids.Digest) bool { return r.blobs.Renew(d) }}))
	t.Cleanup(func() { _ = c.Close() })
	r.more = func(o *mint.Options) {
		c.Store = r.store
		o.Publisher = shelf{c}
		o.Linked = func(ctx context.Context) ([]ids.Digest, error) { return c.States(ctx, r.clock.Now().Add(-time.Hour)) }
	}
	r.reopen(t)
	return r, c
}

func (r *room) save(t *testing.T, owner string, s mint.Save) mint.Checkpoint {
	t.Helper()
	s.Seq = mint.NoSeq
	path := r.result(t, owner, must[mint.Promise](t)(r.Save(ctx, owner, s))).Path
	return must[mint.Checkpoint](t)(r.Checkpoint(ctx, owner, path))
}

// TestPublished: every adapter that is saved for sampling is a revision, once, and the one
// before it is its parent: in the run, after a restart, and in a run that began from it.
func TestPublished(t *testing.T) {
	r, c := publishing(t)
	session := r.session(t, "o")
	model := r.model(t, "o", session)
	learn := func(model string, seed uint64) {
		t.Helper()
		must[mint.Promise](t)(r.send("o", model, mint.NoSeq, op{seed: seed}))
		r.result(t, "o", must[mint.Promise](t)(r.send("o", model, mint.NoSeq, op{step: true})))
	}
	learn(model, 1)
	state := r.save(t, "o", mint.Save{Model: model, Kind: mint.Training, Name: "state"})
	data := ids.DigestOf([]byte("rows"))
	said := json.RawMessage(`{"data":"` + string(data) + `","recipe":"lr = 1","metric.reward":"0.5","metric.bad":"NaN","mine":"x"}`)
	one := r.save(t, "o", mint.Save{Model: model, Kind: mint.Sampling, Name: "one", Metadata: said})
	first := must[adapter.Published](t)(c.Revision(ctx, "o", one.Revision))
	row, err := r.store.Mint().Checkpoint(ctx, state.Path)
	if err != nil || first.Parent != "" || first.Name != "one" || first.Checkpoint != row.State || first.Data != data || first.Recipe != ids.DigestOf([]byte("lr = 1")) ||
		first.Metrics["steps"] != 1 || first.Metrics["reward"] != 0.5 || len(first.Metrics) != 2 {
		t.Errorf("%v %+v", err, first)
	}
	if same := r.save(t, "o", mint.Save{Model: model, Kind: mint.Sampling, Name: "same"}); same.Revision != one.Revision {
		t.Error("the same adapter is another revision")
	}
	if x := r.save(t, "o", mint.Save{Model: model, Kind: mint.External, Name: "x"}); x.Revision != "" {
		t.Error("what was saved for download was published")
	}
	r.reopen(t)
	learn(model, 2)
	two := must[adapter.Published](t)(c.Revision(ctx, "o", r.save(t, "o", mint.Save{Model: model, Kind: mint.Sampling, Name: "two"}).Revision))
	if two.Parent != one.Revision {
		t.Errorf("the second has the parent %q", two.Parent)
	}
	p := must[mint.Promise](t)(r.Load(ctx, "o", mint.Load{Session: session, ModelSeq: 1, Path: one.Path}))
	branch := r.result(t, "o", p).Model
	learn(branch, 3)
	three := must[adapter.Published](t)(c.Revision(ctx, "o", r.save(t, "o", mint.Save{Model: branch, Kind: mint.Sampling, Name: "three"}).Revision))
	if three.Parent != one.Revision || three.Checkpoint != "" {
		t.Errorf("the branch: %+v", three)
	}
	if _, err := c.Revision(ctx, "p", one.Revision); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("somebody else: %v", err)
	}
}

// TestPolicyKeepsState: the training state of a revision stays while a policy record links
// it, whatever becomes of the run and its checkpoints, and goes when none does.
func TestPolicyKeepsState(t *testing.T) {
	r, c := publishing(t)
	session := r.session(t, "o")
	model := r.model(t, "o", session)
	must[mint.Promise](t)(r.send("o", model, 1, op{seed: 1}))
	must[mint.Promise](t)(r.send("o", model, 2, op{step: true}))
	saved := r.save(t, "o", mint.Save{Model: model, Kind: mint.Training, Name: "a"})
	rev := r.save(t, "o", mint.Save{Model: model, Kind: mint.Sampling, Name: "L1"})
	state := must[adapter.Published](t)(c.Revision(ctx, "o", rev.Revision)).Checkpoint
	p := must[adapter.Pointer](t)(c.Promote(ctx, "o", catalogue.Move{Name: "L1", Revision: rev.Revision, Version: -1}))
	if state == "" || p.Checkpoint != state {
		t.Fatalf("promoted with %q, not %q", p.Checkpoint, state)
	}
	for _, path := range []string{saved.Path, rev.Path} {
		if err := r.DeleteCheckpoint(ctx, "o", path); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Finish(ctx, "o", session, mint.Success, ""); err != nil {
		t.Fatal(err)
	}
	gone := func(d time.Duration) error {
		t.Helper()
		r.clock.pass(d)
		r.age(t)
		if err := r.Tend(ctx, true); err != nil {
			t.Fatal(err)
		}
		_, err := r.blobs.Bytes(state, 1<<30)
		return err
	}
	if err := gone(3 * time.Hour); err != nil {
		t.Fatalf("the state that a policy record links: %v", err)
	}
	if left := r.files(t); left != 1 {
		t.Errorf("%d blobs are left, not the state alone", left)
	}
	must[adapter.Pointer](t)(c.Promote(ctx, "o", catalogue.Move{Name: "L1", Revision: "", Version: -1}))
	must[adapter.Pointer](t)(c.Alias(ctx, "o", catalogue.Move{Name: "L1", Alias: "canary", Version: -1}))
	if err := gone(0); err != nil {
		t.Fatalf("the state of a record that can be rolled back to: %v", err)
	}
}

// age makes all blobs as old as a collection wants them.
func (r *room) age(t *testing.T) {
	t.Helper()
	old := time.Now().Add(-48 * time.Hour)
	for _, path := range must[[]string](t)(filepath.Glob(filepath.Join(r.home, "mint", "*"))) {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *room) files(t *testing.T) int {
	t.Helper()
	return len(must[[]string](t)(filepath.Glob(filepath.Join(r.home, "mint", "*"))))
}

// TestAdopted: a state that was trained elsewhere is a checkpoint here, by the base's name,
// and goes on bit for bit.
func TestAdopted(t *testing.T) {
	e := openEngine(t)
	r := open(t, e, t.TempDir(), mint.Limits{})
	model := r.model(t, "o", r.session(t, "o"))
	for i, o := range schedule(6) {
		must[mint.Promise](t)(r.send("o", model, int64(i+1), o))
	}
	d := r.state(t, "o", model, "here")
	other := open(t, e, t.TempDir(), mint.Limits{})
	states := must[*blob.Store](t)(blob.Open(filepath.Join(other.home, "mint"), filepath.Join(other.home, "imported")))
	defer states.Close()
	other.more = func(o *mint.Options) { o.Blobs = states }
	other.reopen(t)
	if _, err := mint.Adopt(ctx, other.store.Mint(), states, "o", d, "", time.Now()); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("a state that is not there: %v", err)
	}
	if err := os.WriteFile(filepath.Join(other.home, "imported", d.Hex()), must[[]byte](t)(r.blobs.Bytes(d, 1<<30)), 0o600); err != nil {
		t.Fatal(err)
	}
	path := must[string](t)(mint.Adopt(ctx, other.store.Mint(), states, "o", d, "", time.Now()))
	if again := must[string](t)(mint.Adopt(ctx, other.store.Mint(), states, "o", d, "", time.Now())); again != path {
		t.Errorf("adopted as %s and as %s", path, again)
	}
	theirs := must[string](t)(mint.Adopt(ctx, other.store.Mint(), states, "p", d, "", time.Now()))
	list, n, err := other.Checkpoints(ctx, "o", "", mint.Page{})
	if err != nil || n != 1 || list[0].Path != path || list[0].Base != tiny || theirs == path {
		t.Fatalf("%v %d %+v", err, n, list)
	}
	session := other.session(t, "o")
	for name, created := range map[string]func() string{
		"created from it": func() string {
			return other.result(t, "o", must[mint.Promise](t)(other.Load(ctx, "o", mint.Load{Session: session, ModelSeq: 9, Path: path, Optimizer: true, Base: tiny}))).Model
		},
		"loaded": func() string {
			m := other.model(t, "o", session)
			other.result(t, "o", must[mint.Promise](t)(other.Load(ctx, "o", mint.Load{Model: m, Seq: mint.NoSeq, Path: path, Optimizer: true})))
			return m
		},
	} {
		m := created()
		for _, o := range schedule(3) {
			must[mint.Promise](t)(other.send("o", m, mint.NoSeq, o))
		}
		if got, want := other.state(t, "o", m, "end"), alone(t, other.worker, append(schedule(6), schedule(3)...)); got != want {
			t.Errorf("%s: the state is %s, undisturbed %s", name, got, want)
		}
	}
}

// TestWaitingGradients: a checkpoint between a pass and its step is loaded as of the step
// before; the model itself keeps what it has accumulated.
func TestWaitingGradients(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	session := r.session(t, "o")
	model := r.model(t, "o", session)
	all := []op{{seed: 1}, {step: true}, {seed: 2}}
	for _, o := range all {
		must[mint.Promise](t)(r.send("o", model, mint.NoSeq, o))
	}
	at := r.save(t, "o", mint.Save{Model: model, Kind: mint.Training, Name: "between"})
	loaded := r.result(t, "o", must[mint.Promise](t)(r.Load(ctx, "o", mint.Load{Session: session, ModelSeq: 1, Path: at.Path, Optimizer: true}))).Model
	for id, before := range map[string][]op{model: all, loaded: all[:2]} {
		more := []op{{seed: 3}, {step: true}}
		for _, o := range more {
			must[mint.Promise](t)(r.send("o", id, mint.NoSeq, o))
		}
		if got, want := r.state(t, "o", id, "end"), alone(t, r.worker, append(before[:len(before):len(before)], more...)); got != want {
			t.Errorf("%s: the state is %s, not %s", id, got, want)
		}
	}
}
