package limits

import (
	"context"
	"sync"
	"time"

	"macaron/internal/errs"
)

// Queue admits so many turns at once and lets so many more wait, first come first
// served; the rest are refused at once, with a time to come back.
type Queue struct {
	mu      sync.Mutex
	free    int // below 0: so many too many run since it was resized
	running int
	most    int // that may wait
	waiting []chan struct{}
	watch   func(running, waiting int)
}

// NewQueue makes a queue; watch, which may be nil, is told of every change.
func NewQueue(running, waiting int, watch func(running, waiting int)) *Queue {
	if watch == nil {
		watch = func(int, int) {}
	}
	return &Queue{free: running, most: waiting, watch: watch}
}

// Resize changes how many may run and wait. Who runs already is let finish, and who waits
// keeps waiting.
func (q *Queue) Resize(running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free, q.most = running-q.running, waiting
	for q.free > 0 && len(q.waiting) > 0 {
		close(q.waiting[0])
		q.waiting = q.waiting[1:]
		q.free--
		q.running++
	}
	q.tell()
}

// Enter waits for a place and returns its release, which must be called once.
func (q *Queue) Enter(ctx context.Context) (release func(), err error) {
	q.mu.Lock()
	if q.free > 0 {
		q.free--
		q.running++
		q.tell()
		q.mu.Unlock()
		return q.leave, nil
	}
	if len(q.waiting) >= q.most {
		defer q.mu.Unlock()
		e := errs.New(errs.Overloaded, "as many turns as this machine takes are running and waiting", "try again shortly")
		e.RetryAfter = time.Duration(1+len(q.waiting)/max(q.running, 1)) * time.Second
		return nil, e
	}
	turn := make(chan struct{})
	q.waiting = append(q.waiting, turn)
	q.tell()
	q.mu.Unlock()
	select {
	case <-turn:
		return q.leave, nil
	case <-ctx.Done():
		q.abandon(turn)
		return nil, errs.Wrap(errs.Canceled, context.Cause(ctx), "the client went away while the turn waited", "")
	}
}

// leave hands the place to the first that waits.
func (q *Queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.tell()
	if q.free >= 0 && len(q.waiting) > 0 { // below 0, more run than there are places now
		close(q.waiting[0])
		q.waiting = q.waiting[1:]
		return
	}
	q.free++
	q.running--
}

// abandon takes a waiter out; one that was admitted in the same moment gives its
// place back.
func (q *Queue) abandon(turn chan struct{}) {
	q.mu.Lock()
	for i, w := range q.waiting {
		if w == turn {
			q.waiting = append(q.waiting[:i:i], q.waiting[i+1:]...)
			q.tell()
			q.mu.Unlock()
			return
		}
	}
	q.mu.Unlock()
	q.leave()
}

func (q *Queue) tell() { q.watch(q.running, len(q.waiting)) }
