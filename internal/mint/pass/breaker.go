package pass

import (
	"sync"
	"time"

	"macaron/internal/clock"
)

// After so many failures in a row nothing is sent for a while, so that a backend that is
// down costs its clients no time. Then one request tries.
const (
	breakAfter = 5
	breakFor   = 5 * time.Second
)

type breaker struct {
	clock clock.Clock

	mu       sync.Mutex
	failures int
	until    time.Time
}

// closedFor tells how long nothing is to be sent; 0: a request may go.
func (b *breaker) closedFor() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < breakAfter {
		return 0
	}
	now := b.clock.Now()
	if left := b.until.Sub(now); left > 0 {
		return left
	}
	b.until = now.Add(breakFor) // the one that asks tries; others wait for what becomes of it
	return 0
}

func (b *breaker) note(ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ok {
		b.failures = 0
		return
	}
	if b.failures++; b.failures >= breakAfter {
		b.until = b.clock.Now().Add(breakFor)
	}
}
