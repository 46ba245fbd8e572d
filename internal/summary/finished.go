package summary

import "sync"

// remembered is how many finished turns are kept: enough for whoever loaded a
// history just before its last summary was stored.
const remembered = 4096

// finished remembers which turns got their summary lately and tells waiters of each.
type finished struct {
	mu      sync.Mutex
	turns   map[string]bool
	order   []string
	changed chan struct{}
}

func newFinished() *finished {
	return &finished{turns: map[string]bool{}, changed: make(chan struct{})}
}

func (f *finished) add(turn string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.turns[turn] {
		f.turns[turn] = true
		f.order = append(f.order, turn)
	}
	if len(f.order) > remembered {
		delete(f.turns, f.order[0])
		f.order = f.order[1:]
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// have reports whether all turns are finished, and the channel that closes at the
// next change.
func (f *finished) have(turns []string) (bool, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range turns {
		if !f.turns[t] {
			return false, f.changed
		}
	}
	return true, f.changed
}
