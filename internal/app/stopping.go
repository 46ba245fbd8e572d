package app

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"macaron/internal/config"
)

// stopping is how a server ends: it says that it is not ready and goes on as before, for whoever
// sends requests here to notice; then it takes none and finishes what is open; then that is cut.
// One deadline is for everything that has to finish, and somebody who cannot wait ends it.
type stopping struct {
	asked atomic.Bool
	delay time.Duration
	drain time.Duration
	hurry <-chan struct{} // closed by whoever cannot wait; nil: nobody
	begun chan struct{}   // closed when a stop was asked for

	once  sync.Once
	grace context.Context
	end   context.CancelFunc
}

func (s *stopping) init(c config.Stop, o Options) {
	s.delay, s.drain, s.hurry, s.begun = c.Delay, c.Drain, o.Hurry, make(chan struct{})
	if o.Drain != 0 {
		s.drain = o.Drain
	}
	if s.drain == 0 {
		s.drain = 10 * time.Second
	}
}

// pause is the time in which requests are still taken.
func (s *stopping) pause() {
	if !s.asked.Swap(true) {
		close(s.begun)
	}
	wait := time.NewTimer(s.delay)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-s.hurry:
	}
}

// within is the time that is left for what is open; it begins with the first call.
func (s *stopping) within() context.Context {
	s.once.Do(func() {
		s.grace, s.end = context.WithTimeout(context.Background(), s.drain)
		go func() {
			select {
			case <-s.hurry:
				s.end()
			case <-s.grace.Done():
			}
		}()
	})
	return s.grace
}

// over says that nothing is open any more.
func (s *stopping) over() {
	s.within()
	s.end()
}
