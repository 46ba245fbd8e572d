package lora

import (
	"container/list"
	"fmt"
	"sync"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
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

// Handle is one registered adapter: its content is fixed, its memory comes and goes.
type Handle struct {
	store  *Store
	source func() (path string, err error)

	reading sync.Mutex // one reader at a time

	// Under Store.mu.
	revision adapter.Revision // at least the hash
	key      ids.Digest       // of the first load; empty before
	resident *Adapter         // nil: not in memory
	at       *list.Element    // in Store.loaded
	pins     int
	unloaded bool
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

// Revision is what the adapter is; of one that was not read yet what Expect was told.
func (h *Handle) Revision() adapter.Revision {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	return h.revision
}

// Acquire gives the adapter, reads it if it is not in memory, and keeps it there until
// release is called, once or more often. It fails with Overloaded when adapters in use
// take all the memory, with ChecksumMismatch when the source holds other content now,
// and with AdapterNotFound after Unload.
func (h *Handle) Acquire() (a *Adapter, release func(), err error) {
	a, err = h.pin(true)
	if a == nil && err == nil {
		a, err = h.read()
	}
	if err != nil {
		return nil, nil, err
	}
	return a, sync.OnceFunc(h.unpin), nil
}

// pin takes the adapter if it is in memory.
func (h *Handle) pin(count bool) (*Adapter, error) {
	s := h.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if count {
		s.stats.Requests++
	}
	if h.unloaded {
		return nil, errs.Newf(errs.AdapterNotFound, "the adapter %s was unloaded", h.revision.Hash.Short())
	}
	if h.resident == nil {
		return nil, nil
	}
	s.loaded.MoveToFront(h.at)
	h.hold()
	return h.resident, nil
}

func (h *Handle) hold() {
	if h.pins++; h.pins == 1 {
		h.store.stats.Pinned++
	}
}

func (h *Handle) unpin() {
	s := h.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.pins--; h.pins > 0 {
		return
	}
	s.stats.Pinned--
	if h.unloaded {
		s.drop(h)
	}
}

// read loads the adapter and pins it, unless another request just did.
func (h *Handle) read() (*Adapter, error) {
	h.reading.Lock()
	defer h.reading.Unlock()
	if a, err := h.pin(false); a != nil || err != nil {
		return a, err
	}
	path, err := h.source()
	if err != nil {
		return nil, err
	}
	a, err := Load(path, h.store.base)
	if err != nil {
		return nil, err
	}
	return a, h.store.admit(h, a)
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

// same refuses content that is not what was registered.
func (h *Handle) same(a *Adapter) error {
	want, got := h.revision.Hash, a.Revision.Hash
	if want == "" || want == got && (h.key == "" || h.key == a.Key) {
		return nil
	}
	return errs.New(errs.ChecksumMismatch, fmt.Sprintf("the adapter is revision %s now, not %s as it was registered", got.Short(), want.Short()),
		"register the new content as another adapter")
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

// Unload refuses the adapter to new requests; the running ones finish with it. It is
// idempotent.
func (h *Handle) Unload() {
	s := h.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.unloaded {
		return
	}
	h.unloaded = true
	s.stats.Registered--
	if h.resident != nil && h.pins == 0 {
		s.drop(h)
	}
}

// Stats tells what the store did and holds.
func (s *Store) Stats() StoreStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.stats
	out.Loaded = s.loaded.Len()
	return out
}
