package lora

import (
	"container/list"
	"sync"

	"macaron/internal/adapter"
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
	pinned int64         // bytes of what is in use or about to be read for somebody
	freed  chan struct{} // closed when an adapter is let go, for those who wait for room
}

// StoreStats is what a store holds now; Loads, Evictions and Requests count since it was
// made.
type StoreStats struct {
	Registered int   `json:"registered"`
	Loaded     int   `json:"loaded"` // in memory
	Pinned     int   `json:"pinned"` // in use by requests, or about to be
	Bytes      int64 `json:"bytes"`  // that the loaded ones take
	Limit      int64 `json:"limit"`  // on Bytes
	Loads      int64 `json:"loads"`  // reads from a source
	Evictions  int64 `json:"evictions"`
	Requests   int64 `json:"requests"` // for an adapter
	Waiting    int   `json:"waiting"`  // for room
}

// NewStore makes a store for a base with a limit on the bytes of loaded adapters.
func NewStore(base Shape, limit int64) *Store {
	return &Store{base: base, limit: limit, stats: StoreStats{Limit: limit}, freed: make(chan struct{})}
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

// Stats tells what the store did and holds.
func (s *Store) Stats() StoreStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.stats
	out.Loaded = s.loaded.Len()
	return out
}
