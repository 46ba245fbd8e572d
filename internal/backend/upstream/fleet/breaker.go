package fleet

import (
	"sync"
	"time"

	"macaron/internal/clock"
)

// State is a breaker's.
type State string

// The states.
const (
	Closed   State = "closed"    // requests pass
	Open     State = "open"      // none pass until the pause is over
	HalfOpen State = "half-open" // one passes, and decides
)

const (
	failuresToOpen = 5
	firstPause     = 2 * time.Second
	longestPause   = time.Minute
)

// breaker keeps requests from an engine that has failed several times in a row. After a
// pause one request tries; each failure of such a try doubles the pause.
type breaker struct {
	clock clock.Clock

	mu       sync.Mutex
	failures int // in a row
	until    time.Time
	pause    time.Duration
	trying   bool
}

// allow reports whether a request may pass; whoever passes must report how it ended.
// Otherwise wait says when to ask again.
func (b *breaker) allow() (ok bool, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	switch {
	case b.pause == 0:
		return true, 0
	case now.Before(b.until):
		return false, b.until.Sub(now)
	case b.trying:
		return false, firstPause
	}
	b.trying = true
	return true, 0
}

// report ends a request that allow let pass.
func (b *breaker) report(failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !failed {
		b.failures, b.pause, b.trying = 0, 0, false
		return
	}
	b.failures++
	switch {
	case b.trying:
		b.pause = min(2*b.pause, longestPause)
	case b.pause == 0 && b.failures >= failuresToOpen:
		b.pause = firstPause
	default:
		return // closed still, or a late result of a request from before it opened
	}
	b.trying, b.until = false, b.clock.Now().Add(b.pause)
}

// forget ends a request that says nothing about the engine: the client left.
func (b *breaker) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
}

// relent ends the pause: something else than a request has found that the engine is back, and
// the next request tries. The pause grows with an outage, and would outlast it.
func (b *breaker) relent() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pause > 0 {
		b.until = b.clock.Now()
	}
}

// state tells how it stands now.
func (b *breaker) state() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.pause == 0:
		return Closed
	case b.clock.Now().Before(b.until):
		return Open
	}
	return HalfOpen
}
