package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
)

// invocation are the tokens that activate the adapters of loadActivated.
var invocation = []int32{40, 41, 42}

// loadActivated is load for an adapter that waits for invocation.
func loadActivated(t testing.TB, e *Engine, seed uint64) *lora.Adapter {
	t.Helper()
	dir := enginetest.Adapter(t, seed)
	path := filepath.Join(dir, "adapter_config.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := json.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	config["alora_invocation_tokens"] = invocation
	if raw, err = json.Marshal(config); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := e.LoadAdapter(dir)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// answer runs a request to its end.
func answer(t testing.TB, e *Engine, r Request) ([]Token, Usage) {
	t.Helper()
	s, err := e.Submit(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	out, err := collect(s)
	if err != nil {
		t.Fatal(err)
	}
	return out, s.Usage()
}

// called is a prompt of n tokens with the invocation at some positions, the rest other
// tokens.
func called(r *rand.Rand, n int, at ...int) []int32 {
	p := prompt(r, n)
	for i := range p {
		p[i] = 50 + p[i]%200
	}
	for _, a := range at {
		copy(p[a:], invocation)
	}
	return p
}

// TestActivatedAdaptersShareTheBasesPrefix: what stands before the invocation is the
// base's, taken from it and given to it; what follows is not.
func TestActivatedAdaptersShareTheBasesPrefix(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	cold := open(t, enginetest.Model(t, 1), func(o *Options) { o.Threads = 1 })
	one, two := loadActivated(t, e, 1), loadActivated(t, e, 2)
	p := called(rand.New(rand.NewPCG(1, 1)), 220, 10, 150)
	for i, c := range []struct {
		adapter *lora.Adapter
		cached  int
	}{{one, 0}, {nil, 150}, {two, 150}, {one, 219}, {nil, 219}} {
		r := Request{Prompt: p, Adapter: c.adapter, MaxTokens: 6, IgnoreEOS: true}
		got, usage := answer(t, e, r)
		if usage.Cached != c.cached || usage.Dormant || usage.Overlay != 0 {
			t.Errorf("request %d: %+v, want %d cached", i, usage, c.cached)
		}
		r.Salt = fmt.Sprint("cold ", i)
		if diff := cmp.Diff(generate(t, cold, r), got); diff != "" {
			t.Errorf("request %d: %s", i, diff)
		}
	}
	plain := called(rand.New(rand.NewPCG(1, 2)), 100)
	want := generate(t, e, Request{Prompt: plain, MaxTokens: 5, IgnoreEOS: true})
	got, usage := answer(t, e, Request{Prompt: plain, MaxTokens: 5, IgnoreEOS: true, Adapter: one})
	if !usage.Dormant || usage.Cached != 99 || cmp.Diff(want, got) != "" {
		t.Errorf("without invocation tokens: %+v", usage)
	}
}

// TestOverlay: a labelled answer that takes another adapter's prefix, the same whether the
// prefix was cached or not, and that leaves no trace in what is exact.
func TestOverlay(t *testing.T) {
	path := enginetest.Model(t, 1)
	e := open(t, path, nil)
	router, worker := load(t, e, 1), load(t, e, 2)
	p := prompt(rand.New(rand.NewPCG(3, 1)), 200)
	r := Request{Prompt: p, Adapter: worker, MaxTokens: 8, IgnoreEOS: true}
	exact := generate(t, open(t, path, nil), r)

	generate(t, e, Request{Prompt: p[:170], Adapter: router, MaxTokens: 1, IgnoreEOS: true})
	over := r
	over.Overlay = Overlay{Adapter: router, Tokens: 165}
	first, usage := answer(t, e, over)
	if usage.Overlay != 165 || usage.Cached != 165 {
		t.Errorf("the overlay is not labelled, or nothing was shared: %+v", usage)
	}
	if cmp.Diff(exact, first) == "" {
		t.Error("the overlay changed nothing, so this test shows nothing")
	}
	if again, usage := answer(t, e, over); usage.Cached != 199 || usage.Overlay != 165 || cmp.Diff(first, again) != "" {
		t.Errorf("a second time: %+v", usage)
	}
	if cold := generate(t, open(t, path, func(o *Options) { o.Threads = 1 }), over); cmp.Diff(first, cold) != "" {
		t.Error("an overlay depends on what is cached")
	}
	got, usage := answer(t, e, r)
	if usage.Cached != 0 || usage.Overlay != 0 || cmp.Diff(exact, got) != "" {
		t.Errorf("after an overlay, the exact answer is another, or used its pages: %+v", usage)
	}
	if got := generate(t, e, Request{Prompt: p, Adapter: router, MaxTokens: 8, IgnoreEOS: true}); cmp.Diff(generate(t, open(t, path, nil), Request{Prompt: p, Adapter: router, MaxTokens: 8, IgnoreEOS: true}), got) != "" {
		t.Error("the router's own answer changed")
	}
	same := r
	same.Overlay = Overlay{Adapter: worker, Tokens: 100}
	if got, usage := answer(t, e, same); usage.Overlay != 0 || cmp.Diff(exact, got) != "" {
		t.Errorf("its own prefix is no overlay: %+v", usage)
	}
	for name, o := range map[string]Overlay{"everything": {Adapter: router, Tokens: 200}, "negative": {Adapter: router, Tokens: -1},
		"activated": {Adapter: loadActivated(t, e, 3), Tokens: 10}, "two ways": {Adapter: router, Mix: lora.Only(worker), Tokens: 10}} {
		bad := r
		bad.Overlay = o
		if _, err := e.Submit(context.Background(), bad); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLastIndex(t *testing.T) {
	for _, c := range []struct {
		tokens, part []int32
		want         int
	}{{nil, []int32{1}, -1}, {[]int32{1}, []int32{1}, 0}, {[]int32{1, 1, 2}, []int32{1, 2}, 1}, {[]int32{1, 2, 1, 2, 1}, []int32{1, 2, 1}, 2}, {[]int32{1, 2, 3, 1}, []int32{1, 2}, 0}, {[]int32{2, 3}, []int32{1, 2, 3}, -1}} {
		if got := lastIndex(c.tokens, c.part); got != c.want {
			t.Errorf("%v in %v: %d, want %d", c.part, c.tokens, got, c.want)
		}
	}
}

// TestReleaseIsCalledOnce: whatever becomes of a request.
func TestReleaseIsCalledOnce(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	for name, r := range map[string]Request{"refused": {}, "answered": {Prompt: []int32{5}, MaxTokens: 2}, "chosen": {Prompt: []int32{5}, Choices: [][]int32{{40, 50}, {40, 60}}}} {
		calls := make(chan string, 9)
		r.Release = func() { calls <- name }
		if s, err := e.Submit(context.Background(), r); err == nil {
			if _, err := collect(s); err != nil {
				t.Fatal(err)
			}
		}
		<-calls
		if len(calls) > 0 {
			t.Errorf("%s: released %d times more", name, len(calls))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	if _, err := e.Submit(ctx, Request{Prompt: []int32{5}, MaxTokens: 900, IgnoreEOS: true, Release: func() { close(done) }}); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-done
}
