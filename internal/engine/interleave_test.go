package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/sample"
	"macaron/internal/errs"
)

// scene is one warm engine with registered adapters, some of them under names that come
// to mean other content, and the cold engine that it is held against.
type scene struct {
	r         *rand.Rand
	warm      *Engine
	names     []string // directories of "published" adapters
	handles   []*lora.Handle
	activated []*lora.Adapter
	stems     [][]int32
}

// newScene opens an engine with a random number of threads, sequences, pages, rows of a
// step, and memory for adapters.
func newScene(t *testing.T, path string, r *rand.Rand, stems [][]int32) *scene {
	t.Helper()
	e, err := prepare(context.Background(), Options{Model: path, Threads: 1 + r.IntN(2), MaxBatch: 1 + r.IntN(12),
		KVBytes: int64(80+r.IntN(200)) << 10, AdapterBytes: int64(160+r.IntN(100)) << 10})
	if err != nil {
		t.Fatal(err)
	}
	e.loop.rows = rowLimits{prompt: 64 << r.IntN(4), mixed: 64 << r.IntN(3), chunk: 64 << r.IntN(3)}
	go e.loop.run()
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &scene{r: r, warm: e, stems: stems, activated: []*lora.Adapter{loadActivated(t, e, 11), loadActivated(t, e, 12)}}
	for seed := range uint64(4) {
		s.names = append(s.names, enginetest.Adapter(t, seed+1))
		s.handles = append(s.handles, nil)
		s.publish(t, int(seed), s.names[seed])
	}
	return s
}

// publish makes a name mean the content of a directory.
func (s *scene) publish(t *testing.T, i int, dir string) {
	t.Helper()
	if s.handles[i] != nil {
		s.handles[i].Unload()
	}
	for _, name := range []string{"adapter_config.json", "adapter_model.safetensors"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.names[i], name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, err := s.warm.Adapters().Register(s.names[i])
	if err != nil {
		t.Fatal(err)
	}
	s.handles[i] = h
}

// take acquires some of the published adapters for a request.
func (s *scene) take(t *testing.T, q *Request, n int) lora.Mix {
	t.Helper()
	var m lora.Mix
	var held []func()
	for _, i := range s.r.Perm(len(s.handles))[:n] {
		a, release, err := s.handles[i].Acquire()
		if errs.CodeOf(err) == errs.Overloaded {
			continue // all memory is in use; the base answers this one
		}
		if err != nil {
			t.Fatal(err)
		}
		m, held = append(m, lora.Weighted{Adapter: a, Weight: 1}), append(held, release)
	}
	before := q.Release
	q.Release = func() {
		for _, f := range held {
			f()
		}
		if before != nil {
			before()
		}
	}
	return m
}

// request is a random one: base, adapter, mixture, activated, overlay; sampled, greedy or
// a choice; on one of few stems.
func (s *scene) request(t *testing.T) Request {
	t.Helper()
	r := s.r
	q := Request{MaxTokens: 1 + r.IntN(10), TopLogprobs: r.IntN(3), IgnoreEOS: r.IntN(2) == 0, Session: []string{"", "a", "b"}[r.IntN(3)]}
	q.Prompt = append(append(q.Prompt, s.stems[r.IntN(len(s.stems))]...), prompt(r, r.IntN(3))...)
	switch r.IntN(7) {
	case 0:
	case 1, 2:
		q.Mix = s.take(t, &q, 1)
	case 3:
		q.Mix = s.take(t, &q, 2)
		for i := range q.Mix {
			q.Mix[i].Weight = float32(r.IntN(4))/2 - .75
		}
	case 4, 5:
		q.Adapter = s.activated[r.IntN(2)]
	case 6:
		q.Overlay = Overlay{Tokens: 1 + r.IntN(len(q.Prompt)-1)}
		if q.Overlay.Mix = s.take(t, &q, r.IntN(2)); len(q.Overlay.Mix) == 0 {
			q.Mix = s.take(t, &q, 1)
		}
	}
	if r.IntN(2) == 0 {
		q.Sampling = sample.Params{Temperature: 0.8, TopP: 0.95, RepetitionPenalty: 1.1, Seed: r.Uint64()}
	}
	if r.IntN(5) == 0 {
		q.Choices = [][]int32{{40, 50}, {40, 50, 51}, {40, 60}, {41}}
	}
	return q
}

// TestInterleavings: a thousand requests of every kind, ten at a time, on shared prefixes,
// with evictions of pages and of adapters and with names published again, give the bits
// that each gives alone in a cold engine with one thread, decoded and scored.
func TestInterleavings(t *testing.T) {
	path := enginetest.Model(t, 1)
	cold := open(t, path, func(o *Options) { o.Threads, o.MaxBatch = 1, 1 })
	r := rand.New(rand.NewPCG(5, 5))
	stems := [][]int32{called(r, 20), called(r, 64, 30), called(r, 130, 20, 64), called(r, 200, 150), called(r, 200, 126)}
	const scenes, rounds, perRound = 10, 10, 10
	var hits, evictions, reads int64
	for i := range scenes {
		s := newScene(t, path, r, stems)
		for round := range rounds {
			if round%3 == 2 {
				s.publish(t, r.IntN(3), enginetest.Adapter(t, uint64(100*i+round)))
			}
			s.round(t, cold, fmt.Sprint(i, " ", round), perRound)
		}
		got := s.warm.Stats()
		hits, evictions, reads = hits+got.KV.HitTokens, evictions+got.KV.Evictions, reads+got.Adapters.Evictions
	}
	if hits == 0 || evictions == 0 || reads == 0 {
		t.Errorf("not put to the test: %d hits, %d pages and %d adapters evicted", hits, evictions, reads)
	}
}

func (s *scene) round(t *testing.T, cold *Engine, name string, n int) {
	var wg sync.WaitGroup
	for i := range n {
		q := s.request(t)
		alone := q
		alone.Release, alone.Salt, alone.Session = nil, name+fmt.Sprint(" ", i), ""
		stream, err := s.warm.Submit(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			got, err := collect(stream)
			if err != nil {
				t.Errorf("%s, request %d: %v", name, i, err)
				return
			}
			same(t, cold, alone, got)
			scored(t, s.warm, alone, got)
		})
	}
	wg.Wait()
}

// same holds tokens against a cold run.
func same(t *testing.T, cold *Engine, q Request, got []Token) {
	stream, err := cold.Submit(context.Background(), q)
	if err != nil {
		t.Error(err)
		return
	}
	want, err := collect(stream)
	if err != nil || stream.Usage().Cached != 0 {
		t.Error(err, stream.Usage())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %d tokens, mixture of %d, overlay of %d: %s", q.Salt, len(q.Prompt), len(q.Mix), q.Overlay.Tokens, diff)
	}
}

// scored holds the probabilities of sampled tokens against those of scoring the whole.
func scored(t *testing.T, e *Engine, q Request, got []Token) {
	if len(q.Choices) > 0 || q.Overlay.Tokens > 0 {
		return
	}
	mix := q.Mix
	if q.Adapter != nil {
		mix = lora.Only(q.Adapter)
	}
	all := slices.Clone(q.Prompt)
	for _, tok := range got {
		all = append(all, tok.ID)
	}
	if activated(mix) && lastIndex(all, invocation) != lastIndex(q.Prompt, invocation) {
		return // the answer calls the adapter again
	}
	scores, err := e.ScoreMix(context.Background(), all, mix)
	if err != nil {
		t.Error(err)
		return
	}
	for i, tok := range got {
		if s := scores[len(q.Prompt)-1+i]; s != tok.Logprob {
			t.Errorf("%s: token %d was decoded with %v and scored with %v", q.Salt, i, tok.Logprob, s)
		}
	}
}

// TestAloneAndAmongThirtyTwo: equal tokens and equal bits of their probabilities.
func TestAloneAndAmongThirtyTwo(t *testing.T) {
	path := enginetest.Model(t, 2)
	r := rand.New(rand.NewPCG(9, 9))
	one := open(t, path, func(o *Options) { o.Threads = 1 })
	many := open(t, path, func(o *Options) { o.MaxBatch, o.KVBytes = 32, 4<<20 })
	adapters := []*lora.Adapter{nil, load(t, one, 1), load(t, one, 2), loadActivated(t, one, 3)}
	var requests []Request
	for i := range 32 {
		requests = append(requests, Request{Prompt: called(r, 90+i, 40), Adapter: adapters[i%4], MaxTokens: 24, TopLogprobs: 3, IgnoreEOS: true,
			Sampling: sample.Params{Temperature: 1, Seed: uint64(i / 2)}})
	}
	for i, s := range submitAll(t, many, requests) {
		got, err := collect(s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(generate(t, one, requests[i]), got); diff != "" {
			t.Errorf("request %d: %s", i, diff)
		}
	}
}
