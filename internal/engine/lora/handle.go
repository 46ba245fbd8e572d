package lora

import (
	"container/list"
	"fmt"
	"sync"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

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

// same refuses content that is not what was registered.
func (h *Handle) same(a *Adapter) error {
	want, got := h.revision.Hash, a.Revision.Hash
	if want == "" || want == got && (h.key == "" || h.key == a.Key) {
		return nil
	}
	return errs.New(errs.ChecksumMismatch, fmt.Sprintf("the adapter is revision %s now, not %s as it was registered", got.Short(), want.Short()),
		"register the new content as another adapter")
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
