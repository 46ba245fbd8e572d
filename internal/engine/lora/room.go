package lora

import (
	"fmt"
	"time"

	"macaron/internal/errs"
)

// maxWaiting bounds the callers that wait for room.
const maxWaiting = 256

// reserve pins adapters, in memory or not, if there is room for all of them beside those
// that are pinned. If there is not it gives, with wait, what is closed when an adapter
// is let go, and counts the caller as waiting.
func (s *Store) reserve(handles []*Handle, wait bool) (freed chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all, more int64
	seen := map[*Handle]bool{}
	for _, h := range handles {
		if h.unloaded {
			return nil, gone(h)
		}
		if seen[h] {
			continue
		}
		seen[h] = true
		if all += h.size; h.pins == 0 {
			more += h.size
		}
	}
	switch {
	case s.pinned+more <= s.limit:
		s.stats.Requests += int64(len(handles))
		for _, h := range handles {
			s.pin(h)
		}
		return nil, nil
	case wait && all <= s.limit && s.stats.Waiting < maxWaiting:
		s.stats.Waiting++
		return s.freed, nil
	}
	return nil, s.full()
}

func (s *Store) pin(h *Handle) {
	if h.pins++; h.pins == 1 {
		s.stats.Pinned++
		s.pinned += h.size
	}
}

// release takes back what reserve did.
func (s *Store) release(handles []*Handle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range handles {
		if h.pins--; h.pins == 0 {
			s.stats.Pinned--
			s.pinned -= h.size
			if h.unloaded {
				s.drop(h)
			}
		}
	}
	s.wake()
}

// wake lets those who wait look again.
func (s *Store) wake() {
	close(s.freed)
	s.freed = make(chan struct{})
}

func (s *Store) waited() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Waiting--
}

// admit puts a pinned adapter that was read in memory, in the place of others.
func (s *Store) admit(h *Handle, a *Adapter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Loads++
	if err := h.same(a); err != nil {
		return err
	}
	if h.unloaded {
		return gone(h)
	}
	if h.size == 0 {
		h.size = a.Bytes()
		s.pinned += h.size
	}
	if h.size > s.limit {
		return errs.New(errs.TooLarge, fmt.Sprintf("the adapter takes %d bytes, and %d are set aside for adapters", h.size, s.limit), "give the engine more memory for adapters")
	}
	if s.pinned > s.limit {
		return s.full()
	}
	for s.stats.Bytes+h.size > s.limit {
		s.evict()
	}
	name := h.revision.Name
	h.revision, h.key = a.Revision, a.Key
	h.revision.Name = name
	h.resident, h.at = a, s.loaded.PushFront(h)
	s.stats.Bytes += h.size
	return nil
}

// evict drops the adapter that was not used for the longest time. There is one: what is
// pinned fits, so what is in memory and too much is not.
func (s *Store) evict() {
	for e := s.loaded.Back(); e != nil; e = e.Prev() {
		if h := e.Value.(*Handle); h.pins == 0 {
			s.drop(h)
			s.stats.Evictions++
			return
		}
	}
	panic("lora: more in memory than reserved")
}

// drop takes an adapter that nobody uses out of memory.
func (s *Store) drop(h *Handle) {
	if h.resident == nil || h.pins > 0 {
		return
	}
	s.stats.Bytes -= h.size
	s.loaded.Remove(h.at)
	h.resident, h.at = nil, nil
}

func gone(h *Handle) error {
	return errs.Newf(errs.AdapterNotFound, "the adapter %s was unloaded", h.revision.Hash.Short())
}

// full is the error of adapters without room.
func (s *Store) full() error {
	err := errs.New(errs.Overloaded, fmt.Sprintf("adapters in use and those asked for exceed the %d bytes set aside for adapters", s.limit), "try again in a moment, or give the engine more memory for adapters")
	err.RetryAfter = time.Second
	return err
}
