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
// before another process may begin, and is waited for like any other: the lease counts from the
// question, not from the answer.
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
		asked := time.Now()
		ctx, stop := context.WithTimeout(s.life, lease/3) // a database that does not answer has said nothing
		mine, err := s.hold(ctx)
		stop()
		switch {
		case s.life.Err() != nil:
			return
		case err == nil && mine && !held:
			if err := s.begin(s.life); err != nil {
				s.o.Log.Error("the training service cannot begin", "error", err)
				s.clear()
				continue
			}
			held, last = true, asked
		case err == nil && mine:
			last = asked
		case held && (err == nil || time.Since(last) >= lease*2/3):
			s.o.Log.Error("the work of the training service is not held any more; this process waits", "error", err)
			s.halt(notYet())
			s.clear()
			held = false
		}
	}
}
