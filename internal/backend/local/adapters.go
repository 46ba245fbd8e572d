package local

import (
	"context"
	"sync"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/engine"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// shelf finds the engine's adapters by the hash of their revision. The engine's store
// reads them when they are needed and keeps what there is memory for.
type shelf struct {
	store   *lora.Store
	resolve func(adapter.Revision) (string, error)

	mu      sync.Mutex
	handles map[ids.Digest]*lora.Handle
}

// mix gives the adapters of a request and the one whose prefix it takes, held in memory
// until release is called. It waits for room for them.
func (s *shelf) mix(ctx context.Context, r *backend.Request) (m lora.Mix, over engine.Overlay, release func(), err error) {
	wanted := r.Mixture
	switch {
	case len(wanted) > 0 && !r.Revision.IsBase():
		return nil, over, nil, errs.New(errs.InvalidRequest, "the request names an adapter and a mixture", "name one of them")
	case !r.Revision.IsBase():
		wanted = []backend.Weighted{{Revision: r.Revision, Scale: 1}}
	}
	over.Tokens = r.Overlay.Tokens
	overlaid := over.Tokens != 0 && !r.Overlay.Revision.IsBase()
	if overlaid {
		wanted = append(wanted[:len(wanted):len(wanted)], backend.Weighted{Revision: r.Overlay.Revision})
	}
	var handles []*lora.Handle
	for _, w := range wanted {
		h, err := s.handle(w.Revision)
		if err != nil {
			return nil, over, nil, err
		}
		handles = append(handles, h)
	}
	adapters, release, err := s.store.Acquire(ctx, handles...)
	if err != nil {
		return nil, over, nil, err
	}
	if overlaid {
		last := len(adapters) - 1
		over.Adapter, adapters = adapters[last], adapters[:last]
	}
	for i, a := range adapters {
		m = append(m, lora.Weighted{Adapter: a, Weight: wanted[i].Scale})
	}
	return m, over, release, nil
}

func (s *shelf) handle(r adapter.Revision) (*lora.Handle, error) {
	if r.Hash == "" {
		return nil, errs.Newf(errs.AdapterNotFound, "the adapter %q names no revision", r.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.handles[r.Hash]
	if h == nil {
		if s.resolve == nil {
			return nil, errs.Newf(errs.AdapterNotFound, "there is no adapter %q here", r.Name)
		}
		if s.handles == nil {
			s.handles = map[ids.Digest]*lora.Handle{}
		}
		h = s.store.Expect(r, func() (string, error) { return s.resolve(r) })
		s.handles[r.Hash] = h
	}
	return h, nil
}

// Take reads an adapter from a directory or file and keeps it under its revision, so that
// what is wrong with it is told now.
func (b *Backend) Take(name, path string) (adapter.Revision, error) {
	h, err := b.adapters.store.Register(path)
	if err != nil {
		return adapter.Revision{}, err
	}
	rev := h.Revision()
	b.adapters.put(rev.Hash, h)
	rev.Name = name
	return rev, nil
}

// Drop lets go of an adapter's memory; requests that use it keep it until they end.
func (b *Backend) Drop(r adapter.Revision) {
	s := &b.adapters
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.handles[r.Hash]; h != nil {
		h.Unload()
		delete(s.handles, r.Hash)
	}
}

// put keeps a handle, unless there is one of the same content.
func (s *shelf) put(hash ids.Digest, h *lora.Handle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handles[hash] != nil {
		h.Unload()
		return
	}
	if s.handles == nil {
		s.handles = map[ids.Digest]*lora.Handle{}
	}
	s.handles[hash] = h
}
