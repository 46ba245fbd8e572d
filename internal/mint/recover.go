package mint

import (
	"context"
	"encoding/json"

	"macaron/internal/errs"
	"macaron/internal/mint/ledger"
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
			if _, err := s.know(m); err != nil {
				return err
			}
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
		gone := lost(op, err)
		if err != nil && gone == nil {
			return err
		}
		s.takeUp(op, b, gone)
	}
	return nil
}

// know takes a model of the store into memory; s.mu is held.
func (s *Service) know(row ledger.Model) (*model, error) {
	e := &model{row: row, ahead: map[int64]*future{}, written: done()}
	if err := json.Unmarshal(row.About, &e.about); err != nil {
		return nil, errs.Wrap(errs.FormatInvalid, err, "the row of model "+row.ID+" cannot be read", "use the build that wrote it")
	}
	s.models[row.ID] = e
	return e, nil
}

func done() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// takeUp queues a promise that another process gave; gone says that how it was asked is lost.
// s.mu is held.
func (s *Service) takeUp(op ledger.Op, b body, gone error) *future {
	f := newFuture(op, b)
	f.gone = gone
	close(f.journaled)
	f.size = int64(len(op.Body))
	f.op.Body = nil
	s.futures[f.key()] = f
	s.count(f, 1)
	e := s.sessions[op.Session]
	f.canceled = op.Category == ledger.Canceled || op.Session != "" && (e == nil || !e.row.Ended.IsZero())
	f.op.Category = "" // that of its outcome is yet to come
	s.enqueue(f)
	return f
}

// adopt gives the future of a promise that is not in memory. A pending one was given by a
// process that lost its hold at that moment: it is queued here.
func (s *Service) adopt(ctx context.Context, owner, request string) (*future, error) {
	op, err := s.o.Store.Op(ctx, owner, request)
	if err != nil {
		return nil, err
	}
	if State(op.State) != Pending {
		return newFuture(op, body{}), nil
	}
	b, err := s.bodyOf(op)
	gone := lost(op, err)
	if err != nil && gone == nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready != nil {
		return nil, s.ready
	}
	if f := s.futures[key{owner, request}]; f != nil {
		return f, nil
	}
	if op.Model != "" {
		if _, err := s.live(ctx, owner, op.Model); err != nil && errs.CodeOf(err) != errs.Gone {
			return nil, err
		}
	}
	return s.takeUp(op, b, gone), nil
}
