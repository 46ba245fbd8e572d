package upstream

import (
	"context"
	"sync"
)

// slots shares out the slots of one llama-server among adapters. With at least as many
// slots as adapters each adapter has slots of its own, and no slot ever sees two;
// otherwise adapters share one, and whoever finds another's KV in it asks for none of
// it to be used. A slot is lent to one request at a time, so what it holds is known.
type slots struct {
	mu      sync.Mutex
	held    []int // whose KV is in the slot
	busy    []bool
	sets    int           // adapters, with the base as one more
	changed chan struct{} // closed, and replaced, when a slot comes back
}

// nobody is what a slot holds of which nothing is known.
const nobody = -2

func newSlots(count, adapters int) *slots {
	s := &slots{held: make([]int, count), busy: make([]bool, count), sets: adapters + 1, changed: make(chan struct{})}
	for i := range s.held {
		s.held[i] = nobody
	}
	return s
}

// own lists the slots of an adapter (-1: the base). The base shares with the first
// adapters unless there is a slot more than adapters.
func (s *slots) own(id int) []int {
	set := (id + s.sets) % s.sets // the base is the last
	groups := min(s.sets, len(s.held))
	var out []int
	for i := set % groups; i < len(s.held); i += groups {
		out = append(out, i)
	}
	return out
}

// take waits for a slot of the adapter, the session's usual one if it is free. fresh:
// the slot may hold KV of another adapter.
func (s *slots) take(ctx context.Context, id int, session uint64) (slot int, fresh bool, release func(), err error) {
	own := s.own(id)
	for {
		s.mu.Lock()
		for i := range own {
			at := own[(session+uint64(i))%uint64(len(own))]
			if s.busy[at] {
				continue
			}
			fresh = s.held[at] != id
			s.busy[at], s.held[at] = true, id
			s.mu.Unlock()
			return at, fresh, func() { s.give(at) }, nil
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, false, nil, context.Cause(ctx)
		}
	}
}

func (s *slots) give(at int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy[at] = false
	close(s.changed)
	s.changed = make(chan struct{})
}
