package mint

import (
	"context"
	"time"
)

// hold asks for the work, or for more of it: other processes wait for a whole lease after
// the last sign of life of the one that has it.
func (s *Service) hold(ctx context.Context) (bool, error) {
	now := s.o.Clock.Now()
	return s.o.Store.Hold(ctx, now.Add(s.o.Limits.Lease), now, s.o.Instance)
}

// keepHold renews the hold on the work, or waits for it. One that is lost ends the work
// before another process may begin, and is waited for like any other.
func (s *Service) keepHold(held bool) {
	lease := s.o.Limits.Lease
	tick := time.NewTicker(lease / 3)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-s.life.Done():
			return
		case <-tick.C:
		}
		mine, err := s.hold(s.life)
		switch {
		case s.life.Err() != nil:
			return
		case err == nil && mine && !held:
			if err := s.begin(s.life); err != nil {
				s.o.Log.Error("the training service cannot begin", "error", err)
				s.clear()
				continue
			}
			held, last = true, time.Now()
		case err == nil && mine:
			last = time.Now()
		case held && (err == nil || time.Since(last) > lease*2/3):
			s.o.Log.Error("another process has taken over the training service; this one waits", "error", err)
			s.halt(notYet())
			s.clear()
			held = false
		}
	}
}
