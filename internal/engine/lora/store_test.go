package lora

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"macaron/internal/adapter"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
)

// numbered writes an adapter whose content depends on n.
func numbered(t testing.TB, n byte) string {
	t.Helper()
	tensors := parts(K, Down)
	tensors[0].Data[0] = n
	return write(t, nil, tensors, nil)
}

func register(t *testing.T, s *Store, dir string) *Handle {
	t.Helper()
	h, err := s.Register(dir)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func acquire(t *testing.T, h *Handle) (*Adapter, func()) {
	t.Helper()
	a, release, err := h.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	return a, release
}

// sizeOf is the memory of one of these adapters.
func sizeOf(t testing.TB) int64 {
	t.Helper()
	a, err := Load(numbered(t, 0), base())
	if err != nil {
		t.Fatal(err)
	}
	return a.Bytes()
}

func TestStorePagesByBytes(t *testing.T) {
	s := NewStore(base(), 2*sizeOf(t))
	var all []*Handle
	for n := range 3 {
		all = append(all, register(t, s, numbered(t, byte(n))))
	}
	if got := s.Stats(); got.Loaded != 2 || got.Evictions != 1 || got.Loads != 3 || got.Registered != 3 || got.Pinned != 0 || got.Bytes != s.limit {
		t.Errorf("%+v", got)
	}
	a, release := acquire(t, all[0]) // was evicted, is read again, evicts the second
	b, releaseB := acquire(t, all[2])
	if again, r := acquire(t, all[0]); again != a {
		t.Error("one content is in memory twice")
	} else {
		r()
	}
	if a.Revision.Hash != all[0].Revision().Hash || a.Key == b.Key {
		t.Error("the wrong adapter")
	}
	_, _, err := all[1].Acquire()
	if e := errs.As(err); errs.CodeOf(err) != errs.Overloaded || e.RetryAfter == 0 {
		t.Errorf("with all memory in use: %v", err)
	}
	release()
	release() // idempotent
	if _, _, err := all[1].Acquire(); err != nil {
		t.Errorf("with memory to be had: %v", err)
	}
	releaseB()
	if got := s.Stats(); got.Pinned != 1 || got.Loaded != 2 {
		t.Errorf("%+v", got)
	}
	if _, err := NewStore(base(), 10).Register(numbered(t, 1)); errs.CodeOf(err) != errs.TooLarge {
		t.Errorf("an adapter that can never fit: %v", err)
	}
}

func TestStoreChecksWhatItReadsAgain(t *testing.T) {
	s := NewStore(base(), sizeOf(t))
	dir := numbered(t, 1)
	first := register(t, s, dir)
	second := register(t, s, numbered(t, 2)) // evicts the first
	tensors := parts(K, Down)
	tensors[0].Data[0] = 77
	if err := safetensors.Write(filepath.Join(dir, "adapter_model.safetensors"), tensors, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := first.Acquire(); errs.CodeOf(err) != errs.ChecksumMismatch {
		t.Errorf("other content: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, _, err := first.Acquire(); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("no content: %v", err)
	}
	if _, release, err := second.Acquire(); err != nil {
		t.Errorf("the other adapter: %v", err)
	} else {
		release()
	}
	wrong := s.Expect(adapter.Revision{Name: "x", Hash: first.Revision().Hash}, func() (string, error) { return numbered(t, 9), nil })
	if _, _, err := wrong.Acquire(); errs.CodeOf(err) != errs.ChecksumMismatch {
		t.Errorf("not what was expected: %v", err)
	}
}

func TestUnloadLetsRequestsFinish(t *testing.T) {
	s := NewStore(base(), 1<<20)
	h := register(t, s, numbered(t, 1))
	a, release := acquire(t, h)
	h.Unload()
	h.Unload()
	if _, _, err := h.Acquire(); errs.CodeOf(err) != errs.AdapterNotFound || !strings.Contains(err.Error(), "unloaded") {
		t.Errorf("after Unload: %v", err)
	}
	if got := s.Stats(); got.Registered != 0 || got.Loaded != 1 || a.At(0, K) == nil {
		t.Errorf("while a request runs: %+v", got)
	}
	release()
	if got := s.Stats(); got.Loaded != 0 || got.Bytes != 0 || got.Pinned != 0 {
		t.Errorf("afterwards: %+v", got)
	}
}

// TestStoreUnderLoad: many goroutines take, release, register and unload; what each gets
// is what it asked for and the accounts close.
func TestStoreUnderLoad(t *testing.T) {
	s := NewStore(base(), 3*sizeOf(t))
	var handles []*Handle
	for n := range 6 {
		handles = append(handles, register(t, s, numbered(t, byte(n))))
	}
	extra := numbered(t, 99)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for range 100 {
				h := handles[r.IntN(len(handles))]
				a, release, err := h.Acquire()
				if errs.CodeOf(err) == errs.Overloaded {
					continue
				}
				if err != nil || a.Revision.Hash != h.Revision().Hash {
					t.Errorf("%v", err)
					return
				}
				if r.IntN(8) == 0 {
					if own, err := s.Register(extra); err == nil {
						own.Unload()
					} else if errs.CodeOf(err) != errs.Overloaded {
						t.Error(err)
					}
				}
				release()
			}
		})
	}
	wg.Wait()
	if got := s.Stats(); got.Registered != 6 || got.Pinned != 0 || got.Bytes > got.Limit || got.Bytes != int64(got.Loaded)*sizeOf(t) || got.Evictions == 0 {
		t.Errorf("%+v", got)
	}
}

func TestCanonicalMixtures(t *testing.T) {
	load := func(n byte) *Adapter {
		a, err := Load(numbered(t, n), base())
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a, b := load(1), load(2)
	key := func(m Mix) string {
		c, err := m.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		return string(c.Key())
	}
	if key(nil) != "" || key(Only(a)) != string(a.Key) || key(Mix{{a, 1}, {b, 0}}) != string(a.Key) || key(Mix{{a, 0}}) != "" {
		t.Error("a mixture of one adapter with weight 1 is that adapter, of none the base")
	}
	if key(Mix{{a, .5}, {b, 2}}) != key(Mix{{b, 2}, {a, .5}}) {
		t.Error("the order in which adapters are named matters")
	}
	seen := map[string]bool{}
	for _, m := range []Mix{nil, Only(a), Only(b), {{a, .5}}, {{a, .5}, {b, 1}}, {{a, 1}, {b, .5}}, {{a, 1}, {b, 1}}, {{a, -1}, {b, 1}}} {
		seen[key(m)] = true
	}
	if len(seen) != 8 {
		t.Errorf("%d keys of 8 mixtures", len(seen))
	}
	activated := *b
	activated.Invocation = []int32{1}
	nan := float32(0)
	nan /= nan
	for name, m := range map[string]Mix{"twice": {{a, 1}, {a, 2}}, "the base": {{nil, 1}}, "no number": {{a, nan}}, "huge": {{a, 1e9}}, "activated": {{a, 1}, {&activated, 1}}, "activated in part": {{&activated, .5}}, "many": make(Mix, MaxMix+1)} {
		if _, err := m.Canonical(); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
}
