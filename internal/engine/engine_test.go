package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/sample"
	"macaron/internal/errs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a tiny model; change may adjust the options.
func open(t testing.TB, path string, change func(*Options)) *Engine {
	t.Helper()
	o := Options{Model: path, Threads: 2, KVBytes: 1 << 20, MaxBatch: 8}
	if change != nil {
		change(&o)
	}
	e, err := Open(context.Background(), o)
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

func load(t testing.TB, e *Engine, seed uint64) *lora.Adapter {
	t.Helper()
	a, err := e.LoadAdapter(enginetest.Adapter(t, seed))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// collect reads a stream to its end.
func collect(s *Stream) ([]Token, error) {
	var out []Token
	for {
		t, err := s.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, t)
	}
}

func generate(t testing.TB, e *Engine, r Request) []Token {
	t.Helper()
	out, _ := answer(t, e, r)
	return out
}

// submitAll submits requests, so that they run together.
func submitAll(t testing.TB, e *Engine, requests []Request) []*Stream {
	t.Helper()
	var streams []*Stream
	for _, q := range requests {
		s, err := e.Submit(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	return streams
}

func prompt(r *rand.Rand, n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = r.Int32N(enginetest.Vocab)
	}
	return out
}

// TestAdaptersMatter guards TestInterleavings: with other bytes, other results.
func TestAdaptersMatter(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	p := prompt(rand.New(rand.NewPCG(1, 1)), 30)
	seen := map[string]int{}
	for i, a := range []*lora.Adapter{nil, load(t, e, 1), load(t, e, 2)} {
		out := fmt.Sprint(generate(t, e, Request{Prompt: p, MaxTokens: 4, Adapter: a, IgnoreEOS: true}))
		if j, dup := seen[out]; dup {
			t.Errorf("adapters %d and %d give the same", i, j)
		}
		seen[out] = i
	}
}

func TestScoreEqualsDecode(t *testing.T) {
	path := enginetest.Model(t, 2)
	one, two := open(t, path, func(o *Options) { o.Threads = 1 }), open(t, path, nil)
	a := load(t, one, 4)
	p := prompt(rand.New(rand.NewPCG(2, 2)), 150)
	out := generate(t, two, Request{Prompt: p, MaxTokens: 40, Adapter: a, IgnoreEOS: true, Sampling: sample.Params{Temperature: 1, Seed: 3}})
	all := append([]int32(nil), p...)
	for _, tok := range out {
		all = append(all, tok.ID)
	}
	for _, e := range []*Engine{one, two} {
		scores, err := e.Score(context.Background(), all, a)
		if err != nil || len(scores) != len(all)-1 {
			t.Fatal(err, len(scores))
		}
		for i, tok := range out {
			if got := scores[len(p)-1+i]; got != tok.Logprob {
				t.Fatalf("token %d: decoded with %v, scored with %v", i, tok.Logprob, got)
			}
		}
	}
}

func TestChoiceProbabilities(t *testing.T) {
	e := open(t, enginetest.Model(t, 3), nil)
	a := load(t, e, 5)
	p := prompt(rand.New(rand.NewPCG(3, 3)), 70)
	labels := [][]int32{{40, 50}, {40, 50, 51, 52}, {40, 60}, {40}, {40, 60, 61}}
	out := generate(t, e, Request{Prompt: p, Choices: labels, Adapter: a})
	if len(out) != 1 || out[0].Choice == nil {
		t.Fatalf("%+v", out)
	}
	sum, want := 0.0, make([]float64, len(labels))
	for i, l := range labels {
		scores, err := e.Score(context.Background(), append(append(append([]int32(nil), p...), l...), e.end()), a)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scores[len(p)-1:] {
			want[i] += s
		}
		want[i] = math.Exp(want[i])
		sum += want[i]
	}
	best := out[0].Choice.Index
	for i := range want {
		got := out[0].Choice.Probabilities[i]
		if math.Abs(got-want[i]/sum) > 1e-5 || got > out[0].Choice.Probabilities[best] {
			t.Errorf("label %d has %v, want %v", i, got, want[i]/sum)
		}
	}
	if one := generate(t, e, Request{Prompt: p, Choices: labels[:1]}); one[0].Choice.Probabilities[0] != 1 {
		t.Errorf("a single label has %v", one[0].Choice)
	}
}

// lookedAt is a context that ends when it has been asked so often whether it has: the engine
// asks once before each step, so that the end comes in the middle of an answer however fast
// the machine is.
type lookedAt struct {
	context.Context
	cancel func()
	left   atomic.Int32
}

func (c *lookedAt) Err() error {
	if c.left.Add(-1) < 0 {
		c.cancel()
	}
	return c.Context.Err()
}

func TestCancelEndsOneRequestOnly(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	p := prompt(rand.New(rand.NewPCG(4, 4)), 10)
	want := generate(t, e, Request{Prompt: p, MaxTokens: 60, IgnoreEOS: true})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	looked := &lookedAt{Context: ctx, cancel: cancel}
	looked.left.Store(30)
	s, err := e.Submit(looked, Request{Prompt: p, MaxTokens: 900, IgnoreEOS: true})
	if err != nil {
		t.Fatal(err)
	}
	other, err := e.Submit(context.Background(), Request{Prompt: p, MaxTokens: 60, IgnoreEOS: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := collect(s); errs.CodeOf(err) != errs.Canceled {
		t.Errorf("the cancelled stream ended with %v", err)
	}
	got, err := collect(other)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for e.Stats().Running > 0 {
		time.Sleep(time.Millisecond)
	}
}

func TestQueueIsBounded(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), func(o *Options) { o.MaxBatch, o.MaxQueue = 1, 2 })
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var refused *errs.Error
	for range 10 {
		if _, err := e.Submit(ctx, Request{Prompt: []int32{5}, MaxTokens: 1000, IgnoreEOS: true}); err != nil {
			refused = errs.As(err)
		}
	}
	if refused == nil || refused.Code != errs.Overloaded || refused.RetryAfter < time.Second {
		t.Errorf("refused with %+v", refused)
	}
}

func TestCloseDrains(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), func(o *Options) { o.MaxBatch = 1 })
	running, err := e.Submit(context.Background(), Request{Prompt: []int32{5}, MaxTokens: 50, IgnoreEOS: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := running.Next(); err != nil {
		t.Fatal(err)
	}
	waits, err := e.Submit(context.Background(), Request{Prompt: []int32{6}, MaxTokens: 5})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if rest, err := collect(running); err != nil || len(rest) != 49 {
		t.Errorf("the running request got %d more tokens and %v", len(rest), err)
	}
	if _, err := collect(waits); errs.CodeOf(err) != errs.UpstreamUnavailable {
		t.Errorf("the waiting request ended with %v", err)
	}
	if _, err := e.Submit(context.Background(), Request{Prompt: []int32{6}}); errs.CodeOf(err) != errs.UpstreamUnavailable {
		t.Errorf("after Close: %v", err)
	}
}

// TestCloseEndsAChoiceThatHasBegun: when Close comes while nothing runs and the labels
// of a choice wait, they are scored all the same.
func TestCloseEndsAChoiceThatHasBegun(t *testing.T) {
	e, err := prepare(context.Background(), Options{Model: enginetest.Model(t, 3), Threads: 1, Float32: true, MaxBatch: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Submit(context.Background(), Request{Prompt: []int32{5, 6}, Choices: [][]int32{{40, 50}, {40, 60}, {41, 50, 51}}})
	if err != nil {
		t.Fatal(err)
	}
	l := &e.loop
	for l.take(); len(l.running) == 0 && len(l.queue) == 1 && l.queue[0].kind == choosing; l.compute() {
		l.admit()
	}
	if len(l.running) > 0 || len(l.queue) == 0 {
		t.Fatalf("%d run and %d wait: no label waits alone", len(l.running), len(l.queue))
	}
	go l.run()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := collect(s); err != nil || len(out) != 1 || out[0].Choice == nil {
		t.Errorf("the choice ended with %+v, %v", out, err)
	}
}

func TestBadRequestsAreRefusedWithTheirReason(t *testing.T) {
	path := enginetest.Model(t, 1)
	e := open(t, path, func(o *Options) { o.KVBytes = 100 << 10 })
	for name, c := range map[string]struct {
		Request
		code errs.Code
	}{
		"empty":         {Request{}, errs.InvalidRequest},
		"no such token": {Request{Prompt: []int32{enginetest.Vocab}}, errs.InvalidRequest},
		"negative":      {Request{Prompt: []int32{-1}}, errs.InvalidRequest},
		"too long":      {Request{Prompt: make([]int32, enginetest.Context)}, errs.ContextExceeded},
		"too much room": {Request{Prompt: make([]int32, 400)}, errs.ContextExceeded},
		"sampling":      {Request{Prompt: []int32{5}, Sampling: sample.Params{TopP: 2}}, errs.InvalidRequest},
		"top":           {Request{Prompt: []int32{5}, TopLogprobs: 1000}, errs.InvalidRequest},
		"empty label":   {Request{Prompt: []int32{5}, Choices: [][]int32{{}}}, errs.InvalidRequest},
		"bad label":     {Request{Prompt: []int32{5}, Choices: [][]int32{{9999}}}, errs.InvalidRequest},
		"long label":    {Request{Prompt: []int32{5}, Choices: [][]int32{make([]int32, enginetest.Context)}}, errs.ContextExceeded},
		"other base":    {Request{Prompt: []int32{5}, Adapter: &lora.Adapter{}}, errs.InvalidRequest},
	} {
		if _, err := e.Submit(context.Background(), c.Request); errs.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if out := generate(t, e, Request{Prompt: []int32{5}, MaxTokens: 3, IgnoreEOS: true}); len(out) != 3 || out[2].Reason != Length {
		t.Errorf("afterwards: %+v", out)
	}
}

func TestOpenRefusesWhatItCannotServe(t *testing.T) {
	if _, err := Open(context.Background(), Options{Model: "does-not-exist.gguf"}); errs.CodeOf(err) != errs.NotFound {
		t.Error(err)
	}
}

func TestContextFills(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), func(o *Options) { o.Context = 64 })
	out := generate(t, e, Request{Prompt: make([]int32, 60), MaxTokens: 100, IgnoreEOS: true})
	if len(out) != 4 || out[3].Reason != Length {
		t.Errorf("%d tokens, %+v", len(out), out[len(out)-1])
	}
}
