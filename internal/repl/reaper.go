package repl

import (
	"sync"
	"time"
)

// reaper ends what did not heed an interrupt, a grace after it. Once it was stopped it ends nothing,
// whoever still means to set it: the next cell has one of its own.
type reaper struct {
	mu    sync.Mutex
	timer *time.Timer
	over  bool
}

func newReaper(end func()) *reaper {
	k := &reaper{timer: time.AfterFunc(time.Hour, end)}
	k.timer.Stop()
	return k
}

func (k *reaper) in(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.over {
		k.timer.Reset(d)
	}
}

func (k *reaper) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	k.timer.Stop()
}
