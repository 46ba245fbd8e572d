package lora

import (
	"container/list"
	"fmt"
	"sync"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/errs"
)

// Store holds the adapters of one base and pages them by bytes: an adapter is read when a
// request needs it, stays while requests use it, and after that until its memory is
// needed, least recently used first. It is safe for concurrent use.
type Store struct {
	base  Shape
	limit int64

	mu     sync.Mutex
	loaded list.List // *Handle in memory, most recently used first
	stats  StoreStats
}

// StoreStats counts since the store was made; what stands before Loads is of now.
type StoreStats struct {
	Registered int   `json:"registered"`
	Loaded     int   `json:"loaded"` // in memory
	Pinned     int   `json:"pinned"` // of these, in use by requests
	Bytes      int64 `json:"bytes"`  // that the loaded ones take
	Limit      int64 `json:"limit"`  // on Bytes
	Loads      int64 `json:"loads"`  // reads from a source
	Evictions  int64 `json:"evictions"`
	Requests   int64 `json:"requests"` // that asked for an adapter
}

// NewStore makes a store for a base with a limit on the bytes of loaded adapters.
func NewStore(base Shape, limit int64) *Store {
	return &Store{base: base, limit: limit, stats: StoreStats{Limit: limit}}
}

// Register reads an adapter, a PEFT directory or a GGUF file, and fixes its content: when
// it is read again later, other content is an error.
func (s *Store) Register(path string) (*Handle, error) {
	h := s.handle(adapter.Revision{}, func() (string, error) { return path, nil })
	_, release, err := h.Acquire()
	if err != nil {
		h.Unload()
		return nil, err
	}
	release()
	return h, nil
}

// Expect registers an adapter by its revision's hash, to be read when it is first needed.
// source finds it, each time.
func (s *Store) Expect(r adapter.Revision, source func() (path string, err error)) *Handle {
	return s.handle(r, source)
}

func (s *Store) handle(r adapter.Revision, source func() (string, error)) *Handle {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Registered++
	return &Handle{store: s, source: source, revision: r}
}

// admit puts a loaded adapter in memory, pinned, and makes room for it.
func (s *Store) admit(h *Handle, a *Adapter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := h.same(a); err != nil {
		return err
	}
	if h.unloaded {
		return errs.Newf(errs.AdapterNotFound, "the adapter %s was unloaded", a.Revision.Hash.Short())
	}
	s.stats.Loads++
	n := a.Bytes()
	if n > s.limit {
		return errs.New(errs.TooLarge, fmt.Sprintf("the adapter takes %d bytes, and %d are set aside for adapters", n, s.limit), "give the engine more memory for adapters")
	}
	for s.stats.Bytes+n > s.limit {
		if !s.evict() {
			err := errs.New(errs.Overloaded, fmt.Sprintf("adapters in use take %d of the %d bytes set aside for adapters", s.stats.Bytes, s.limit), "try again in a moment, or give the engine more memory for adapters")
			err.RetryAfter = time.Second
			return err
		}
	}
	name := h.revision.Name
	h.revision, h.key = a.Revision, a.Key
	h.revision.Name = name
	h.resident, h.at = a, s.loaded.PushFront(h)
	h.hold()
	s.stats.Bytes += n
	return nil
}

// evict drops the adapter that was not used for the longest time.
func (s *Store) evict() bool {
	for e := s.loaded.Back(); e != nil; e = e.Prev() {
		if h := e.Value.(*Handle); h.pins == 0 {
			s.drop(h)
			s.stats.Evictions++
			return true
		}
	}
	return false
}

func (s *Store) drop(h *Handle) {
	s.stats.Bytes -= h.resident.Bytes()
	s.loaded.Remove(h.at)
	h.resident, h.at = nil, nil
}

// Stats tells what the store did and holds.
func (s *Store) Stats() StoreStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.stats
	out.Loaded = s.loaded.Len()
	return out
}
