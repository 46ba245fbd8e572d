package mint

import (
	"context"
	"encoding/json"

	"macaron/internal/errs"
)

// recover takes up what a process before left: sessions that live, with their models and
// samplers, and every promise that is not resolved. Clients get a whole period to be heard
// of again.
func (s *Service) recover(ctx context.Context) error {
	living, err := s.o.Store.Living(ctx)
	if err != nil {
		return err
	}
	now := s.o.Clock.Now().UTC()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range living {
		row.Seen = now
		s.sessions[row.ID] = &session{row: row, wrote: now}
		models, err := s.o.Store.ModelsOf(ctx, row.Owner, row.ID)
		if err != nil {
			return err
		}
		for _, m := range models {
			e := &model{row: m, ahead: map[int64]*future{}}
			if err := json.Unmarshal(m.About, &e.about); err != nil {
				return errs.Wrap(errs.FormatInvalid, err, "the row of model "+m.ID+" cannot be read", "use the build that wrote it")
			}
			s.models[m.ID] = e
		}
		samplers, err := s.o.Store.SamplersOf(ctx, row.Owner, row.ID)
		if err != nil {
			return err
		}
		for _, m := range samplers {
			s.samplers[m.ID] = &sampler{row: m, wrote: m.Used}
		}
	}
	if err := s.resume(ctx); err != nil {
		return err
	}
	s.ready = nil
	return nil
}

// resume queues what was promised; s.mu is held.
func (s *Service) resume(ctx context.Context) error {
	ops, err := s.o.Store.Pending(ctx)
	if err != nil {
		return err
	}
	for _, op := range ops {
		b, err := s.bodyOf(op)
		if err != nil {
			return err
		}
		f := newFuture(op, b)
		close(f.journaled)
		f.size = int64(len(op.Body))
		f.op.Body = nil
		s.futures[f.key()] = f
		s.count(f, 1)
		e := s.sessions[op.Session]
		f.canceled = op.Session != "" && (e == nil || !e.row.Ended.IsZero())
		s.enqueue(f)
	}
	return nil
}
