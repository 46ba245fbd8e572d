package mint_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"macaron/internal/clock"
	"macaron/internal/engine"
	"macaron/internal/engine/enginetest"
	"macaron/internal/ids"
	"macaron/internal/mint"
	"macaron/internal/mint/blob"
	"macaron/internal/mint/ledger"
	"macaron/internal/mint/local"
	"macaron/internal/store/postgres/pgtest"
	"macaron/internal/store/sqlite"
	"macaron/internal/train"
)

var ctx = context.Background()

const tiny = "tiny"

// hand is a clock that a test moves.
type hand struct {
	mu  sync.Mutex
	now time.Time
}

func (h *hand) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hand) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func openEngine(t testing.TB) *engine.Engine {
	t.Helper()
	return serve(t, enginetest.Model(t, 1))
}

func serve(t testing.TB, path string) *engine.Engine {
	t.Helper()
	e, err := engine.Open(ctx, engine.Options{Model: path, Threads: 2, KVBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// room is a service on a home of its own.
type room struct {
	*mint.Service
	worker *local.Worker
	clock  *hand
	blobs  *blob.Store
	store  *sqlite.Store
	ledger ledger.Store
	home   string
	limits mint.Limits
	more   func(*mint.Options)
}

func open(t testing.TB, e *engine.Engine, home string, l mint.Limits) *room {
	t.Helper()
	r := &room{worker: local.New(e, local.Options{Name: tiny}), clock: &hand{now: time.Now()}, home: home, limits: l}
	r.open(t)
	return r
}

func (r *room) open(t testing.TB) {
	t.Helper()
	var err error
	if r.store, err = sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(r.home, "log.db")}); err != nil {
		t.Fatal(err)
	}
	if r.blobs, err = blob.Open(filepath.Join(r.home, "mint")); err != nil {
		t.Fatal(err)
	}
	var c clock.Clock = r.clock
	r.ledger = r.store.Mint()
	o := mint.Options{Store: r.store.Mint(), Blobs: r.blobs, Workers: []mint.Worker{r.worker}, Clock: c, IDs: ids.NewSource(c, nil), Limits: r.limits}
	if r.more != nil {
		r.more(&o)
	}
	r.Service, err = mint.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	svc, store, blobs := r.Service, r.store, r.blobs
	t.Cleanup(func() {
		for _, close := range []func() error{svc.Close, store.Close, blobs.Close} {
			if err := close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// reopen ends the process's part and begins anew on the same home.
func (r *room) reopen(t testing.TB) {
	t.Helper()
	for _, close := range []func() error{r.Service.Close, r.store.Close, r.blobs.Close} {
		if err := close(); err != nil {
			t.Fatal(err)
		}
	}
	r.open(t)
}

func (r *room) session(t testing.TB, owner string) string {
	t.Helper()
	s, err := r.CreateSession(ctx, owner, mint.NewSession{SDK: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return s.ID
}

var shape = train.Spec{Rank: 4, Seed: 7, Attn: true, MLP: true, Unembed: true}

func (r *room) model(t testing.TB, owner, session string) string {
	t.Helper()
	p, err := r.CreateModel(ctx, owner, mint.CreateModel{Session: session, Base: tiny, Spec: shape})
	if err != nil {
		t.Fatal(err)
	}
	return r.result(t, owner, p).Model
}

// result waits for a promise that must be kept.
func (r *room) result(t testing.TB, owner string, p mint.Promise) mint.Result {
	t.Helper()
	o := r.outcome(t, owner, p)
	if o.State != mint.Done {
		t.Fatalf("%s is %s: %+v", p.Request, o.State, o.Failure)
	}
	return *o.Result
}

func (r *room) outcome(t testing.TB, owner string, p mint.Promise) mint.Outcome {
	t.Helper()
	o, err := r.Retrieve(ctx, owner, p.Request, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// do promises, and waits for, an operation that must be kept.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// data are examples that depend on the seed alone.
func data(seed uint64, examples, tokens int) []train.Datum {
	r := rand.New(rand.NewPCG(seed, 3))
	all := make([]train.Datum, examples)
	for i := range all {
		d := train.Datum{Inputs: map[string]train.Tensor{}}
		var next []int64
		var weights []float32
		for range tokens {
			d.Tokens = append(d.Tokens, 3+r.Int32N(256))
			next = append(next, int64(3+r.Int32N(256)))
			weights = append(weights, r.Float32())
		}
		d.Inputs["target_tokens"] = train.Tensor{Ints: next}
		d.Inputs["weights"] = train.Tensor{Floats: weights}
		all[i] = d
	}
	return all
}

var crossEntropy = train.Loss{Name: "cross_entropy"}

var adam = train.Adam{LearningRate: 1e-2, Beta1: 0.9, Beta2: 0.95, Eps: 1e-8}

// op is one operation of a schedule: a pass over data of a seed, or a step.
type op struct {
	seed uint64
	step bool
}

// schedule has a step after every two passes.
func schedule(n int) (all []op) {
	for i := range n {
		all = append(all, op{seed: uint64(i), step: i%3 == 2})
	}
	return all
}

func (r *room) send(owner, model string, seq int64, o op) (mint.Promise, error) {
	if o.step {
		return r.OptimStep(ctx, owner, mint.OptimStep{Model: model, Seq: seq, Adam: adam})
	}
	return r.Forward(ctx, owner, mint.Forward{Model: model, Seq: seq, Data: data(o.seed, 2, 12), Loss: crossEntropy})
}

// alone gives the checkpoint that a schedule leads to when nothing is between it and the
// trainer.
func alone(t testing.TB, w *local.Worker, all []op) ids.Digest {
	t.Helper()
	tr := must[*train.Trainer](t)(train.New(w.Passes(), w.Shape(), w.Base().MaxContext, shape))
	for _, o := range all {
		var err error
		if o.step {
			_, err = tr.OptimStep(ctx, adam)
		} else {
			_, err = tr.ForwardBackward(ctx, data(o.seed, 2, 12), crossEntropy)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b := must[*blob.Store](t)(blob.Open(t.TempDir()))
	defer b.Close()
	d, _, err := b.Put(func(out io.Writer) error { return tr.Save(out, "") })
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// state gives the digest of a model's checkpoint as it is after all that was sent.
func (r *room) state(t testing.TB, owner, model, name string) ids.Digest {
	t.Helper()
	p := must[mint.Promise](t)(r.Save(ctx, owner, mint.Save{Model: model, Seq: mint.NoSeq, Kind: mint.Training, Name: name}))
	path := r.result(t, owner, p).Path
	return must[ledger.Checkpoint](t)(r.ledger.Checkpoint(ctx, path)).State
}

func TestMain(m *testing.M) {
	if home := os.Getenv("MINT_TEST_HOME"); home != "" {
		if path := os.Getenv("MINT_TEST_MODEL"); path != "" {
			fmt.Fprintln(os.Stderr, trainUntilKilled(home, path))
			os.Exit(1)
		}
		serveUntilKilled(home)
	}
	os.Exit(pgtest.Around(m).Run())
}
