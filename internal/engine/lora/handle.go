package lora

import (
	"container/list"
	"context"
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
	size     int64            // bytes in memory; 0 before the first load
	resident *Adapter         // nil: not in memory
	at       *list.Element    // in Store.loaded
	pins     int              // requests that use it or wait for it to be read; its size is in Store.pinned then
	unloaded bool
}

// Revision is what the adapter is; of one that was not read yet what Expect was told.
func (h *Handle) Revision() adapter.Revision {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	return h.revision
}

// Acquire is Store.Acquire of one adapter without waiting for room.
func (h *Handle) Acquire() (a *Adapter, release func(), err error) {
	list := []*Handle{h}
	s := h.store
	if _, err := s.reserve(list, false); err != nil {
		return nil, nil, err
	}
	all, release, err := s.fill(list)
	if err != nil {
		return nil, nil, err
	}
	return all[0], release, nil
}

// Acquire takes several adapters at once, reads those that are not in memory, and keeps
// all there until release is called, once or more often. While others that are in use
// leave no room it waits; two callers never wait for each other, since all are taken or
// none. It fails with Overloaded when the adapters have no room together or too many
// callers wait already, with TooLarge when one has none by itself, with ChecksumMismatch
// when a source holds other content now, and with AdapterNotFound after Unload.
func (s *Store) Acquire(ctx context.Context, handles ...*Handle) (all []*Adapter, release func(), err error) {
	for {
		freed, err := s.reserve(handles, true)
		if err != nil {
			return nil, nil, err
		}
		if freed == nil {
			all, release, err = s.fill(handles)
			if errs.CodeOf(err) == errs.Overloaded {
				continue // a size was not known; it is now
			}
			return all, release, err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			err = errs.Wrap(errs.Canceled, context.Cause(ctx), "the request was cancelled", "")
		}
		if s.waited(); err != nil {
			return nil, nil, err
		}
	}
}

// fill reads the reserved adapters that are not in memory; when one fails none is kept.
func (s *Store) fill(handles []*Handle) ([]*Adapter, func(), error) {
	release := sync.OnceFunc(func() { s.release(handles) })
	out := make([]*Adapter, len(handles))
	for i, h := range handles {
		var err error
		if out[i], err = h.read(); err != nil {
			release()
			return nil, nil, err
		}
	}
	return out, release, nil
}

// read gives the adapter, from memory or from its source.
func (h *Handle) read() (*Adapter, error) {
	if a := h.inMemory(); a != nil {
		return a, nil
	}
	h.reading.Lock()
	defer h.reading.Unlock()
	if a := h.inMemory(); a != nil {
		return a, nil // another request was quicker
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

func (h *Handle) inMemory() *Adapter {
	s := h.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.resident != nil {
		s.loaded.MoveToFront(h.at)
	}
	return h.resident
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
	s.drop(h)
	s.wake()
}
