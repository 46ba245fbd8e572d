package local

import (
	"container/list"
	"fmt"
	"sync"

	"macaron/internal/adapter"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// maxAdapters is how many adapters stay loaded; more are dropped, least recently used
// first. A request keeps its own handle until it ends.
const maxAdapters = 64

// shelf holds loaded adapters by the hash of their revision.
type shelf struct {
	load    func(dir string) (*lora.Adapter, error)
	resolve func(adapter.Revision) (string, error)

	mu     sync.Mutex
	loaded map[ids.Digest]*list.Element
	order  list.List // *slot, most recently used first
}

// slot is one adapter, loaded once whoever asks first.
type slot struct {
	hash ids.Digest
	once sync.Once
	a    *lora.Adapter
	err  error
}

// get gives the adapter of a revision, nil for the bare base.
func (s *shelf) get(r adapter.Revision) (*lora.Adapter, error) {
	if r.IsBase() {
		return nil, nil
	}
	if r.Hash == "" {
		return nil, errs.Newf(errs.AdapterNotFound, "the adapter %q names no revision", r.Name)
	}
	sl := s.slot(r.Hash)
	sl.once.Do(func() { sl.a, sl.err = s.fetch(r) })
	if sl.err != nil {
		s.forget(sl)
	}
	return sl.a, sl.err
}

func (s *shelf) fetch(r adapter.Revision) (*lora.Adapter, error) {
	if s.resolve == nil {
		return nil, errs.Newf(errs.AdapterNotFound, "there is no adapter %q here", r.Name)
	}
	dir, err := s.resolve(r)
	if err != nil {
		return nil, err
	}
	a, err := s.load(dir)
	if err != nil {
		return nil, err
	}
	if a.Revision.Hash != r.Hash {
		return nil, errs.New(errs.ChecksumMismatch, fmt.Sprintf("the adapter %q is revision %s, not %s as its record says", r.Name, a.Revision.Hash.Short(), r.Hash.Short()),
			"add the adapter again: macaron adapter add")
	}
	return a, nil
}

func (s *shelf) slot(hash ids.Digest) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.loaded[hash]; e != nil {
		s.order.MoveToFront(e)
		return e.Value.(*slot)
	}
	if s.loaded == nil {
		s.loaded = map[ids.Digest]*list.Element{}
	}
	sl := &slot{hash: hash}
	s.loaded[hash] = s.order.PushFront(sl)
	if s.order.Len() > maxAdapters {
		last := s.order.Remove(s.order.Back()).(*slot)
		delete(s.loaded, last.hash)
	}
	return sl
}

// forget drops a slot that failed, so that the next request tries again.
func (s *shelf) forget(sl *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.loaded[sl.hash]; e != nil && e.Value == sl {
		s.order.Remove(e)
		delete(s.loaded, sl.hash)
	}
}
