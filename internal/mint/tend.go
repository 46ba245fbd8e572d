package mint

import (
	"context"
	"maps"
	"slices"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
)

// How often what is over is looked for, how old what the store knows of signs of life may
// be, and how often blobs are collected, with the age that one must have: younger ones may
// be about to be named.
const (
	tendEvery    = 5 * time.Second
	noteEvery    = 30 * time.Second
	collectEvery = 10 * time.Minute
	collectAge   = time.Hour
	asleepAfter  = 30 * time.Second // without a tick: this process did not run, and heard nobody
	patience     = time.Hour        // for a clock that has leapt to be set right
)

// tend ends what nobody uses any more, until the service closes.
func (s *Service) tend() {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	collected, ticked := s.o.Clock.Now(), time.Now()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		if now := time.Now().Round(0); now.Sub(ticked.Round(0)) > asleepAfter { // by the wall clock: the other one may sleep too
			s.wake()
		}
		ticked = time.Now()
		collect := s.o.Clock.Now().Sub(collected) >= collectEvery
		if collect {
			collected = s.o.Clock.Now()
		}
		if err := s.Tend(s.ctx, collect); err != nil && s.ctx.Err() == nil {
			s.o.Log.Warn("the training service could not be tidied", "error", err)
		}
	}
}

// Tend does once what the service does by itself every few seconds: it ends silent sessions,
// sends idle models out of memory, lets go of idle samplers and removes checkpoints that have
// expired. With collect it forgets what ended sessions left, and removes blobs that nothing
// names.
func (s *Service) Tend(ctx context.Context, collect bool) error {
	steps := []func(context.Context) error{s.endSilent, s.note, s.idleModels, s.idleSamplers, s.expire}
	if s.hasty() {
		steps, collect = steps[:3], false
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	s.clearEnded()
	if !collect {
		return nil
	}
	return s.collect(ctx)
}

// wake gives the clients of all sessions the whole time again, as a start does: while this
// process was suspended none of them could be heard. A clock that was set to another time looks
// the same, and may be set back: what cannot be had again is not removed for a while.
func (s *Service) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Clock.Now().UTC()
	s.patient = time.Now().Add(patience)
	for _, e := range s.sessions {
		if e.row.Ended.IsZero() {
			e.row.Seen = now
		}
	}
	for _, e := range s.samplers {
		e.row.Used = now
	}
}

// hasty tells whether it is too early to remove anything.
func (s *Service) hasty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.patient)
}

func (s *Service) endSilent(ctx context.Context) error {
	s.mu.Lock()
	var silent []string
	before := s.o.Clock.Now().Add(-s.o.Limits.SessionExpiry)
	for id, e := range s.sessions {
		if e.row.Ended.IsZero() && e.row.Seen.Before(before) {
			silent = append(silent, id)
		}
	}
	s.mu.Unlock()
	for _, id := range silent {
		s.o.Log.Info("a session is silent and ends", "session", id)
		if err := s.end(ctx, id, Expired, ""); err != nil {
			return err
		}
	}
	return nil
}

// note tells the store of signs of life, for the lists that are made of it.
func (s *Service) note(ctx context.Context) error {
	var c ledger.Change
	now := s.o.Clock.Now()
	s.mu.Lock()
	for _, e := range s.sessions {
		if e.row.Ended.IsZero() && e.row.Seen.After(e.wrote) && now.Sub(e.wrote) >= noteEvery {
			e.wrote = now
			c.Sessions = append(c.Sessions, e.row)
		}
	}
	for _, e := range s.samplers {
		if e.row.Used.After(e.wrote) && now.Sub(e.wrote) >= noteEvery {
			e.wrote = now
			c.Used = append(c.Used, e.row)
		}
	}
	s.mu.Unlock()
	if len(c.Sessions)+len(c.Used) == 0 {
		return nil
	}
	return s.o.Store.Write(ctx, c)
}

// idleModels sends models out of memory that nobody works with.
func (s *Service) idleModels(context.Context) error {
	before := s.o.Clock.Now().Add(-s.o.Limits.IdleModel)
	s.mu.Lock()
	var idle []*model
	for _, m := range s.models {
		if !m.running && m.trainer != nil && m.ran.Before(before) {
			m.running = true
			idle = append(idle, m)
		}
	}
	s.mu.Unlock()
	for _, m := range idle {
		s.leave(m)
	}
	return nil
}

// idleSamplers lets go of states that were not saved and are not sampled any more.
func (s *Service) idleSamplers(ctx context.Context) error {
	before := s.o.Clock.Now().Add(-s.o.Limits.SamplerIdle)
	rows, err := s.o.Store.Idle(ctx, before)
	if err != nil {
		return err
	}
	var c ledger.Change
	s.mu.Lock()
	for _, row := range rows {
		if e := s.samplers[row.ID]; e != nil && !e.row.Used.Before(before) || s.samples.waits(row.ID) {
			continue
		}
		delete(s.samplers, row.ID)
		c.Closed = append(c.Closed, ledger.Name{Owner: row.Owner, ID: row.ID})
	}
	s.mu.Unlock()
	if len(c.Closed) == 0 {
		return nil
	}
	return s.o.Store.Write(ctx, c)
}

// waits tells whether a request for a sampler is queued.
func (q *fair) waits(sampler string) bool {
	for _, all := range q.queues {
		if slices.ContainsFunc(all, func(f *future) bool { return f.op.Sampler == sampler }) {
			return true
		}
	}
	return false
}

// expire removes the checkpoints whose time is over.
func (s *Service) expire(ctx context.Context) error {
	rows, err := s.o.Store.Expired(ctx, s.o.Clock.Now())
	if err != nil || len(rows) == 0 {
		return err
	}
	var c ledger.Change
	for _, row := range rows {
		s.o.Log.Info("a checkpoint expires", "path", row.Path)
		c.Unsaved = append(c.Unsaved, ledger.Name{Owner: row.Owner, ID: row.Path})
	}
	return s.o.Store.Write(ctx, c)
}

// clearEnded takes what belongs to ended sessions out of memory, and ends the operations of
// their models that were never carried out.
func (s *Service) clearEnded() {
	s.mu.Lock()
	var models []*model
	before := s.o.Clock.Now().Add(-s.o.Limits.Grace)
	for id, e := range s.sessions {
		if !e.row.Ended.IsZero() && e.row.Ended.Before(before) {
			delete(s.sessions, id)
		}
	}
	maps.DeleteFunc(s.futures, func(_ key, f *future) bool { // as the store forgets them
		e := s.sessions[f.op.Session]
		over := f.op.Session != "" && e == nil || f.op.Session == "" && f.op.Done.Before(before)
		if over && State(f.op.State) != Pending {
			s.drop(f)
		}
		return false
	})
	over := func(id string) bool { e := s.sessions[id]; return e == nil || !e.row.Ended.IsZero() }
	for _, m := range s.models {
		if over(m.row.Session) && !m.running {
			m.running = true
			models = append(models, m)
		}
	}
	maps.DeleteFunc(s.samplers, func(_ string, e *sampler) bool { return over(e.row.Session) })
	var orphans []*future
	for _, f := range s.futures {
		if f.op.Model != "" && State(f.op.State) == Pending && f.canceled && s.models[f.op.Model] == nil && f.isJournaled() {
			orphans = append(orphans, f)
		}
	}
	s.mu.Unlock()
	for _, m := range models {
		s.close(m)
	}
	for _, f := range orphans {
		if err := s.fail(f, sessionOver()); err != nil {
			s.o.Log.Error("a request cannot be ended", "request", f.op.ID, "error", err)
		}
	}
}

func (f *future) isJournaled() bool {
	select {
	case <-f.journaled:
		return true
	default:
		return false
	}
}

func sessionOver() error {
	return errs.New(errs.Gone, "the session of this request is over", "begin a new session; checkpoints are kept")
}

// close takes the model of an ended session out of memory; the caller has its turn.
func (s *Service) close(m *model) {
	m.trainer = nil
	s.failAhead(m, sessionOver())
	s.mu.Lock()
	defer s.mu.Unlock()
	m.running = false
	if len(m.ahead) == 0 {
		delete(s.models, m.row.ID)
	}
}

// collect forgets what ended sessions left and removes blobs that nothing names.
func (s *Service) collect(ctx context.Context) error {
	if _, err := s.o.Store.Forget(ctx, s.o.Clock.Now().Add(-s.o.Limits.Grace)); err != nil {
		return err
	}
	before := time.Now().Add(-collectAge) // by the clock of the file system
	reached := map[ids.Digest]bool{}
	if err := s.o.Store.Reachable(ctx, func(d ids.Digest) error { reached[d] = true; return nil }); err != nil {
		return err
	}
	if s.o.Linked != nil {
		linked, err := s.o.Linked(ctx)
		if err != nil {
			return err
		}
		for _, d := range linked {
			reached[d] = true
		}
	}
	freed, err := s.o.Blobs.Collect(before, func(d ids.Digest) bool { return reached[d] })
	s.mu.Lock()
	s.stats.Freed += freed
	s.mu.Unlock()
	return err
}
