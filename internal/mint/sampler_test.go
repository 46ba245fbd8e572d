package mint_test

import (
	"math"
	"slices"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/train"
)

// sampled gives the answers of a sampler.
func (r *room) sampled(t *testing.T, q mint.Sample) []mint.Sequence {
	t.Helper()
	q.Seq = mint.NoSeq
	if q.Prompt == nil {
		q.Prompt = []int32{5, 6, 7}
	}
	return r.result(t, "o", must[mint.Promise](t)(r.Sample(ctx, "o", q))).Sample.Sequences
}

func equalTokens(a, b mint.Sequence) bool { return slices.Equal(a.Tokens, b.Tokens) }

// TestSeeds: a seed gives the same bits again, whoever asks and however many answers run
// beside it; other seeds and the answers of one request differ.
func TestSeeds(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	s := must[mint.Sampler](t)(r.CreateSampler(ctx, "o", mint.NewSampler{Session: r.session(t, "o"), Base: tiny})).ID
	seed := func(n uint64) *uint64 { return &n }
	ask := func(seed *uint64, n int) []mint.Sequence {
		return r.sampled(t, mint.Sample{Sampler: s, N: n, MaxTokens: 12, Temperature: 1, Seed: seed, Stop: mint.Stop{None: true}})
	}
	one, again, other := ask(seed(1), 4), ask(seed(1), 4), ask(seed(2), 4)
	for i := range one {
		if !equalTokens(one[i], again[i]) || !slices.Equal(one[i].Logprobs, again[i].Logprobs) {
			t.Errorf("answer %d: %v and %v", i, one[i].Tokens, again[i].Tokens)
		}
		if equalTokens(one[i], other[i]) || i > 0 && equalTokens(one[i], one[0]) {
			t.Errorf("answer %d is the same with another seed or as another answer", i)
		}
	}
	if alone := ask(seed(1), 1); !equalTokens(alone[0], one[0]) {
		t.Error("the first answer depends on how many there are")
	}
	if a, b := ask(nil, 1), ask(nil, 1); equalTokens(a[0], b[0]) {
		t.Error("two requests without a seed are answered alike")
	}
}

// TestStops: an answer ends with the token that stops it; with an empty list of stops
// nothing but its length ends it.
func TestStops(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	s := must[mint.Sampler](t)(r.CreateSampler(ctx, "o", mint.NewSampler{Session: r.session(t, "o"), Base: tiny})).ID
	seed := uint64(3)
	free := r.sampled(t, mint.Sample{Sampler: s, MaxTokens: 40, Temperature: 1, Seed: &seed, Stop: mint.Stop{None: true}})[0]
	if len(free.Tokens) != 40 || free.Stop != mint.Length {
		t.Fatalf("without stops: %d tokens, %s", len(free.Tokens), free.Stop)
	}
	const end = 2 // the tiny model's own
	ends := []int32{free.Tokens[5]}
	for i, stop := range []mint.Stop{{None: true, Tokens: ends}, {Tokens: ends}, {}} {
		at := slices.IndexFunc(free.Tokens, func(id int32) bool { return i < 2 && id == ends[0] || i > 0 && id == end })
		got := r.sampled(t, mint.Sample{Sampler: s, MaxTokens: 40, Temperature: 1, Seed: &seed, Stop: stop})[0]
		if !slices.Equal(got.Tokens, free.Tokens[:at+1]) || got.Stop != mint.Stopped || len(got.Logprobs) != at+1 {
			t.Errorf("%+v: %v %s", stop, got.Tokens, got.Stop)
		}
	}
}

// TestSnapshotAndInflight: a snapshot stays what it was, the inflight sampler of a model is
// one and moves; and what was sampled has in training the log probabilities that it was
// sampled with, bit for bit.
func TestSnapshotAndInflight(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	session := r.session(t, "o")
	model := r.model(t, "o", session)
	sampler := func(n int64, inflight bool) string {
		t.Helper()
		return r.result(t, "o", must[mint.Promise](t)(r.SaveSampler(ctx, "o", mint.SaveSampler{Model: model, Seq: mint.NoSeq, SamplerSeq: n, Inflight: inflight}))).Sampler
	}
	learn := func() {
		t.Helper()
		must[mint.Promise](t)(r.send("o", model, mint.NoSeq, op{seed: 1}))
		r.result(t, "o", must[mint.Promise](t)(r.send("o", model, mint.NoSeq, op{step: true})))
	}
	seed := uint64(9)
	ask := func(s string) mint.Sequence {
		t.Helper()
		return r.sampled(t, mint.Sample{Sampler: s, MaxTokens: 12, Temperature: 1, Seed: &seed, Stop: mint.Stop{None: true}})[0]
	}
	learn()
	snapshot, inflight := sampler(0, false), sampler(0, true)
	before := ask(snapshot)
	r.same(t, model, before)
	if got := ask(inflight); !slices.Equal(got.Logprobs, before.Logprobs) {
		t.Error("both are of one state and differ")
	}
	learn()
	if got := ask(snapshot); !slices.Equal(got.Logprobs, before.Logprobs) {
		t.Error("the snapshot has moved")
	}
	if moved := sampler(1, true); moved != inflight {
		t.Errorf("the inflight samplers are %s and %s", inflight, moved)
	}
	now := ask(inflight)
	if slices.Equal(now.Logprobs, before.Logprobs) {
		t.Error("the inflight sampler has not moved")
	}
	r.same(t, model, now)
	if _, err := r.SaveSampler(ctx, "o", mint.SaveSampler{Model: model, Seq: mint.NoSeq, SamplerSeq: -1}); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("a snapshot without a number: %v", err)
	}
}

// same compares an answer's log probabilities with those of a training pass.
func (r *room) same(t *testing.T, model string, s mint.Sequence) {
	t.Helper()
	tokens := append([]int32{5, 6, 7}, s.Tokens...)
	d := train.Datum{Tokens: tokens[:len(tokens)-1], Inputs: map[string]train.Tensor{}}
	var next []int64
	for _, id := range tokens[1:] {
		next = append(next, int64(id))
	}
	d.Inputs["target_tokens"], d.Inputs["weights"] = train.Tensor{Ints: next}, train.Tensor{Floats: make([]float32, len(next))}
	p := must[mint.Promise](t)(r.Forward(ctx, "o", mint.Forward{Model: model, Seq: mint.NoSeq, Data: []train.Datum{d}, Loss: crossEntropy, Only: true}))
	got := r.result(t, "o", p).Output.Logprobs[0].Floats[2:]
	for i, want := range s.Logprobs {
		if math.Float32bits(got[i]) != math.Float32bits(want) {
			t.Errorf("token %d was sampled with %v and has %v in training", i, want, got[i])
		}
	}
}

// TestCancel: a request that nobody waits for any more fails and changes nothing, also one
// behind a gap, and what comes after it is carried out.
func TestCancel(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	session := r.session(t, "o")
	model := r.model(t, "o", session)
	behind := must[mint.Promise](t)(r.send("o", model, 2, op{seed: 2}))
	if err := r.Cancel(ctx, "o", behind.Request); err != nil {
		t.Fatal(err)
	}
	last := must[mint.Promise](t)(r.send("o", model, 3, op{step: true}))
	must[mint.Promise](t)(r.send("o", model, 1, op{seed: 1}))
	r.result(t, "o", last)
	if o := r.outcome(t, "o", behind); o.State != mint.Failed || o.Failure.Category != mint.ByUser {
		t.Errorf("%+v", o)
	}
	if err := r.Cancel(ctx, "o", last.Request); err != nil {
		t.Errorf("what was carried out: %v", err)
	}
	s := must[mint.Sampler](t)(r.CreateSampler(ctx, "o", mint.NewSampler{Session: session, Base: tiny})).ID
	p := must[mint.Promise](t)(r.Sample(ctx, "o", mint.Sample{Sampler: s, Prompt: []int32{5}, N: 1024, MaxTokens: 100, Temperature: 1, Stop: mint.Stop{None: true}}))
	if err := r.Cancel(ctx, "o", p.Request); err != nil {
		t.Fatal(err)
	}
	if o := r.outcome(t, "o", p); o.State != mint.Failed {
		t.Errorf("a long sample: %s", o.State)
	}
	r.reopen(t)
	if got, want := r.state(t, "o", model, "end"), alone(t, r.worker, []op{{seed: 1}, {step: true}}); got != want {
		t.Errorf("the state is %s, not %s", got, want)
	}
}

// A cancellation outlives the process: what was canceled behind a gap is not carried out by
// the next one either.
func TestACancellationOutlivesTheProcess(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	model := r.model(t, "o", r.session(t, "o"))
	behind := must[mint.Promise](t)(r.send("o", model, 2, op{seed: 2}))
	if err := r.Cancel(ctx, "o", behind.Request); err != nil {
		t.Fatal(err)
	}
	r.reopen(t)
	must[mint.Promise](t)(r.send("o", model, 1, op{seed: 1}))
	last := must[mint.Promise](t)(r.send("o", model, 3, op{step: true}))
	r.result(t, "o", last)
	if o := r.outcome(t, "o", behind); o.State != mint.Failed || o.Failure.Category != mint.ByUser {
		t.Errorf("%+v", o)
	}
	if got, want := r.state(t, "o", model, "end"), alone(t, r.worker, []op{{seed: 1}, {step: true}}); got != want {
		t.Errorf("the state is %s, not %s", got, want)
	}
}
