package catalogue

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/adapter"
	"macaron/internal/clock"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/store/sqlite"
)

// rig is a catalogue in a home of its own, with a clock that the test moves.
type rig struct {
	*Catalogue
	t     *testing.T
	home  string
	store *sqlite.Store
	clock *clock.Fixed
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, home: t.TempDir(), clock: &clock.Fixed{T: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}}
	r.open()
	t.Cleanup(r.shut)
	return r
}

func (r *rig) open() {
	r.t.Helper()
	var err error
	if r.store, err = sqlite.Open(r.t.Context(), sqlite.Options{Path: filepath.Join(r.home, "log.db")}); err != nil {
		r.t.Fatal(err)
	}
	if r.Catalogue, err = Open(Options{Home: r.home, Store: r.store, Clock: r.clock, Parents: 2}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) shut() {
	if err := errors.Join(r.Close(), r.store.Close()); err != nil {
		r.t.Error(err)
	}
}

// files are a rank-1 adapter of one small module, whose values are all n, with so many
// inputs.
func files(_ testing.TB, n float32, width int) Files {
	values := func(count int) []float32 {
		v := make([]float32, count)
		for i := range v {
			v[i] = n
		}
		return v
	}
	var b bytes.Buffer
	const module = "base_model.model.model.layers.0.self_attn.k_proj."
	err := safetensors.Encode(&b, []safetensors.Tensor{
		safetensors.FromFloat32(module+"lora_A.weight", []uint64{1, uint64(width)}, values(width)),
		safetensors.FromFloat32(module+"lora_B.weight", []uint64{32, 1}, values(32)),
	}, nil)
	if err != nil {
		panic(err) // of a child process, too, which has no test
	}
	return Files{Config: []byte(`{"peft_type":"LORA","r":1,"lora_alpha":2,"target_modules":["k_proj"],"layers_to_transform":[0]}`), Tensors: b.Bytes()}
}

func (r *rig) publish(n float32, parent ids.Digest) adapter.Published {
	r.t.Helper()
	p, err := r.Publish(r.t.Context(), "o", Draft{Files: files(r.t, n, 64), Name: "a", Parent: parent, Recipe: "lr = 1", Metrics: map[string]float64{"reward": 1}})
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// What is published is there after a restart, byte for byte, small or large, and its
// identity is the one that the directory has.
func TestPublishedRevisionsReadBack(t *testing.T) {
	r := newRig(t)
	drafts := []Draft{{Files: files(t, 1, 64), Name: "small"}, {Files: files(t, 2, packed), Name: "large"}, {Files: files(t, 3, 64), Name: "small"}}
	all, err := r.PublishAll(t.Context(), "o", drafts)
	if err != nil {
		t.Fatal(err)
	}
	if all[0].Place.Shard == "" || all[1].Place.Shard != "" || all[2].Place.Shard != all[0].Place.Shard {
		t.Errorf("places %v %v %v", all[0].Place, all[1].Place, all[2].Place)
	}
	r.shut()
	r.open()
	for i, p := range all {
		f, err := r.Files(t.Context(), "o", p.Hash)
		if diff := cmp.Diff(drafts[i].Files, f); err != nil || diff != "" {
			t.Error(err, diff)
		}
		dir, err := r.Dir(t.Context(), "o", p.Hash)
		if err != nil {
			t.Fatal(err)
		}
		if rev, err := lora.Inspect(dir); err != nil || rev.Hash != p.Hash {
			t.Errorf("%s in a directory is %s, %v", p.Hash, rev.Hash, err)
		}
		if _, err := r.Files(t.Context(), "p", p.Hash); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("another owner: %v", err)
		}
	}
}

// Publishing again changes nothing: the first record stays.
func TestPublishingIsIdempotent(t *testing.T) {
	r := newRig(t)
	first := r.publish(1, "")
	r.clock.Add(time.Hour)
	if again := r.publish(1, ids.DigestOf(nil)); !cmp.Equal(first, again) {
		t.Error(cmp.Diff(first, again))
	}
}

// An adapter that no training could go on from is not taken.
func TestScalesBelowZeroAreRefused(t *testing.T) {
	r, f := newRig(t), files(t, 1, 64)
	for _, alpha := range []string{"-32", "0"} {
		f.Config = bytes.Replace(files(t, 1, 64).Config, []byte(`"lora_alpha":2`), []byte(`"lora_alpha":`+alpha), 1)
		if _, err := r.Publish(t.Context(), "o", Draft{Files: f, Name: "a"}); errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), "lora_alpha") {
			t.Errorf("%s: %v", alpha, err)
		}
	}
}

// Every byte of an entry that changes is noticed.
func TestDamagedEntriesAreRefused(t *testing.T) {
	r := newRig(t)
	p := r.publish(1, "")
	path := filepath.Join(r.home, filepath.FromSlash(shardsDir), p.Place.Shard)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(good); i += 5 {
		bad := bytes.Clone(good)
		bad[i] ^= 4
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Files(t.Context(), "o", p.Hash); errs.CodeOf(err) != errs.ChecksumMismatch {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
	if err := os.WriteFile(path, good[:len(good)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Files(t.Context(), "o", p.Hash); errs.CodeOf(err) != errs.ChecksumMismatch {
		t.Errorf("cut short: %v", err)
	}
}

func TestLineage(t *testing.T) {
	r := newRig(t)
	a := r.publish(1, ids.DigestOf([]byte("elsewhere")))
	b := r.publish(2, a.Hash)
	c := r.publish(3, b.Hash)
	line, err := r.Lineage(t.Context(), "o", c.Hash, 10)
	if diff := cmp.Diff([]adapter.Published{c, b, a}, line); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if text, err := r.Recipe(t.Context(), "o", c.Recipe); err != nil || text != "lr = 1" {
		t.Errorf("%q %v", text, err)
	}
}

// TestRollbackOfTheFirst: before the first champion there was the contract's source.
func TestRollbackOfTheFirst(t *testing.T) {
	r := newRig(t)
	a := r.publish(1, "")
	if _, err := r.Promote(t.Context(), "o", Move{Name: "a", Revision: a.Hash}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []ids.Digest{"", a.Hash, ""} {
		if p, err := r.Rollback(t.Context(), "o", Move{Name: "a", Version: -1}); err != nil || p.Revision != want {
			t.Errorf("rollback %d: %s, %v", i, p.Revision.Short(), err)
		}
	}
}

func TestPromoteAndRollback(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	a, b := r.publish(1, ""), r.publish(2, "")
	champion := func() ids.Digest {
		t.Helper()
		all, err := r.Champions(ctx, "o")
		if err != nil {
			t.Fatal(err)
		}
		return all["a"].Revision
	}
	if champion() != "" {
		t.Error("a champion before any")
	}
	r.State = func(d ids.Digest) bool { return d == a.Hash || d == b.Hash }
	steps := []struct {
		do   func() (adapter.Pointer, error)
		want ids.Digest
		code errs.Code
	}{
		{func() (adapter.Pointer, error) {
			return r.Promote(ctx, "o", Move{Name: "a", Revision: a.Hash, Reason: "first", Operator: true, Links: Links{Checkpoint: a.Hash, Optimizer: b.Hash}})
		}, a.Hash, ""},
		{func() (adapter.Pointer, error) {
			return r.Promote(ctx, "o", Move{Name: "a", Revision: b.Hash, Version: 0})
		}, a.Hash, errs.InvalidRequest},
		{func() (adapter.Pointer, error) {
			return r.Promote(ctx, "o", Move{Name: "a", Revision: b.Hash, Version: 1})
		}, b.Hash, ""},
		{func() (adapter.Pointer, error) { return r.Rollback(ctx, "o", Move{Name: "a", Version: 2}) }, a.Hash, ""},
		{func() (adapter.Pointer, error) { return r.Rollback(ctx, "o", Move{Name: "a", Version: -1}) }, b.Hash, ""},
		{func() (adapter.Pointer, error) { return r.Promote(ctx, "o", Move{Name: "a", Version: -1}) }, "", ""},
		{func() (adapter.Pointer, error) { return r.Rollback(ctx, "o", Move{Name: "a", Version: -1}) }, b.Hash, ""},
		{func() (adapter.Pointer, error) { return r.Rollback(ctx, "o", Move{Name: "a", Version: -1}) }, "", ""},
		{func() (adapter.Pointer, error) { return r.Rollback(ctx, "o", Move{Name: "b"}) }, "", errs.NotFound},
		{func() (adapter.Pointer, error) {
			return r.Promote(ctx, "o", Move{Name: "a", Revision: b.Hash, Version: -1, Links: Links{Checkpoint: a.Hash}})
		}, "", errs.NotFound}, // nobody's, or somebody else's
		{func() (adapter.Pointer, error) {
			return r.Promote(ctx, "o", Move{Name: "a", Revision: b.Hash, Version: -1, Operator: true, Links: Links{Checkpoint: a.Hash, Optimizer: ids.DigestOf([]byte("elsewhere"))}})
		}, "", errs.NotFound}, // not in this home
		{func() (adapter.Pointer, error) {
			return r.Alias(ctx, "o", Move{Name: "a", Alias: "champion", Revision: b.Hash})
		}, "", errs.InvalidRequest},
		{func() (adapter.Pointer, error) {
			return r.Alias(ctx, "o", Move{Name: "a", Alias: "canary", Revision: b.Hash})
		}, "", ""},
	}
	for i, s := range steps {
		p, err := s.do()
		if errs.CodeOf(err) != s.code || champion() != s.want {
			t.Errorf("step %d: champion %s, %v", i, champion().Short(), err)
		}
		if i == 2 && (p.Checkpoint != a.Hash || p.Optimizer != b.Hash) {
			t.Errorf("the links are lost: %+v", p)
		}
	}
	if h, err := r.History(ctx, "o", "a", adapter.Champion, 99); err != nil || len(h) != 7 || h[6].Reason != "first" || h[0].Version != 7 {
		t.Errorf("%d moves, %v", len(h), err)
	}
}
