package mint

import (
	"container/list"
	"context"
	"time"

	"macaron/internal/errs"
	"macaron/internal/mint/ledger"
)

// future is a promise in memory: every pending one, and the latest that are resolved.
type future struct {
	op        ledger.Op // what the store has; its outcome once it is resolved
	body      body      // until it is resolved
	gone      error     // why there is no body: it fails with this
	size      int64     // of the body
	result    *Result
	journaled chan struct{}      // closed when the store has it, or it could not be kept
	err       error              // why not, before journaled is closed
	done      chan struct{}      // closed when it is resolved and the store has the outcome
	order     int64              // among the resolved ones
	cancel    context.CancelFunc // of a sample that runs
	canceled  bool
	element   *list.Element // among the kept ones
}

func newFuture(op ledger.Op, b body) *future {
	return &future{op: op, body: b, journaled: make(chan struct{}), done: make(chan struct{})}
}

func (f *future) key() key { return key{f.op.Owner, f.op.ID} }

// promise is what a client is told of it; s.mu is held.
func (f *future) promise() Promise {
	p := Promise{Request: f.op.ID, Model: f.op.Model}
	if f.op.Kind == string(OpSample) {
		p.Sequences = sequenceIDs(f.op.ID, f.op.Seq, f.samples())
	}
	return p
}

// outcome is what is known of it; s.mu is held.
func (f *future) outcome() Outcome {
	o := Outcome{Request: f.op.ID, Op: Op(f.op.Kind), Model: f.op.Model, State: State(f.op.State), Bytes: f.op.Bytes}
	switch o.State {
	case Done:
		o.Result = f.result
	case Failed:
		o.Failure = &Failure{Message: f.op.Failure, Category: Category(f.op.Category)}
		if f.op.Category == ledger.Canceled {
			o.Failure.Category = ByUser
		}
	case Pending:
		o.Queue = Active
	}
	return o
}

// Retrieve waits for the outcome of a promise, at most so long. A pending outcome is no
// error: ask again.
func (s *Service) Retrieve(ctx context.Context, owner, request string, wait time.Duration) (Outcome, error) {
	s.mu.Lock()
	f := s.futures[key{owner, request}]
	if f == nil {
		ready := s.ready
		s.mu.Unlock()
		if ready != nil {
			return Outcome{}, ready
		}
		if f, err := s.adopt(ctx, owner, request); f == nil {
			return Outcome{}, err
		} else if f.op.State != string(Pending) {
			return s.stored(ctx, owner, request)
		}
		return s.Retrieve(ctx, owner, request, wait)
	}
	s.touch(f.op.Owner, f.op.Session)
	working := s.ctx
	s.mu.Unlock()
	over := time.NewTimer(wait)
	defer over.Stop()
	select {
	case <-f.done:
	case <-over.C:
	case <-ctx.Done():
	case <-working.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready != nil {
		return Outcome{}, s.ready
	}
	o := f.outcome()
	if o.State == Pending {
		o.Queue, o.Reason = s.why(f)
	}
	return o, nil
}

// stored gives the outcome of a promise that is not in memory any more.
func (s *Service) stored(ctx context.Context, owner, request string) (Outcome, error) {
	op, err := s.o.Store.Op(ctx, owner, request)
	if err != nil {
		return Outcome{}, err
	}
	f := newFuture(op, body{})
	if State(op.State) == Done {
		b, err := s.fetch(op.Result, op.ResultBlob)
		if err != nil {
			return Outcome{}, err
		}
		r, err := unpack[Result](b)
		if err != nil {
			return Outcome{}, err
		}
		f.result = &r
	}
	return f.outcome(), nil
}

// Finished waits up to a time for promises of a sampler that were resolved after a cursor,
// and gives these with the next cursor. A cursor is good for ever; after a restart, and where
// much was resolved since, it may give again what it gave before.
func (s *Service) Finished(ctx context.Context, owner, sampler string, cursor int64, wait time.Duration) (all []Outcome, next int64, err error) {
	if _, err := s.Sampler(ctx, owner, sampler); err != nil {
		return nil, 0, err
	}
	if all, cursor, err = s.finishedBefore(ctx, owner, sampler, cursor); err != nil || len(all) > 0 {
		return all, cursor, err
	}
	timer := time.AfterFunc(wait, func() { s.changed.Broadcast() })
	defer timer.Stop()
	stop := context.AfterFunc(ctx, func() { s.changed.Broadcast() })
	defer stop()
	until := time.Now().Add(wait)
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if cursor < s.gone {
			return nil, cursor, nil // the next question is the store's
		}
		if all, next = s.resolvedAfter(owner, sampler, cursor); len(all) > 0 || ctx.Err() != nil || s.ready != nil || !time.Now().Before(until) {
			return all, next, nil
		}
		s.changed.Wait()
	}
}

// finishedBefore gives what the store knows where memory may have forgotten something that
// was resolved after a cursor.
func (s *Service) finishedBefore(ctx context.Context, owner, sampler string, cursor int64) (all []Outcome, next int64, err error) {
	s.mu.Lock()
	gone, now := s.gone, s.order
	s.mu.Unlock()
	if cursor >= gone && cursor <= now { // one beyond is of a process whose clock went ahead
		return nil, cursor, nil
	}
	ops, err := s.o.Store.Resolved(ctx, owner, sampler)
	for _, op := range ops {
		all = append(all, newFuture(op, body{}).outcome())
	}
	return all, now, err // what comes behind now was not resolved when the store was asked, or is in both
}

// resolvedAfter is what memory has behind a cursor; s.mu is held.
func (s *Service) resolvedAfter(owner, sampler string, cursor int64) (all []Outcome, next int64) {
	next = cursor
	for e := s.kept.list.Back(); e != nil; e = e.Prev() { // the oldest first
		f := e.Value.(*future)
		if f.op.Owner == owner && f.op.Sampler == sampler && f.order > cursor {
			all = append(all, f.outcome())
			next = max(next, f.order)
		}
	}
	return all, next
}

// Cancel ends a promise that nobody waits for any more: it fails, if it is not resolved yet.
// An operation of a model that runs already is carried out. What is canceled stays so in the
// next process.
func (s *Service) Cancel(ctx context.Context, owner, request string) error {
	s.mu.Lock()
	f := s.futures[key{owner, request}]
	if f == nil {
		s.mu.Unlock()
		_, err := s.stored(ctx, owner, request)
		return err
	}
	f.canceled = true
	if f.cancel != nil {
		f.cancel()
	}
	s.changed.Broadcast()
	s.mu.Unlock()
	select {
	case <-f.journaled: // else there is nothing in the store to mark
	case <-ctx.Done():
		return errs.Wrap(errs.Canceled, ctx.Err(), "the wait for the store ended", "cancel it again")
	}
	return s.o.Store.Write(ctx, ledger.Change{Canceled: []ledger.Name{{Owner: owner, ID: request}}})
}

func canceled() error {
	return errs.New(errs.Canceled, "the request was canceled by its client, or its session ended before it was done", "ask again, in a session that lives")
}

// recency keeps the latest results in memory, the newest first.
type recency struct {
	list  list.List
	bytes int64
}

// keep puts a resolved future first and lets go of what is over the bound; s.mu is held.
func (s *Service) keep(f *future) {
	s.order++
	f.order = s.order
	f.element = s.kept.list.PushFront(f)
	s.kept.bytes += f.op.Bytes + overhead
	for s.kept.bytes > s.o.Limits.KeptBytes && s.kept.list.Len() > 1 {
		s.drop(s.kept.list.Back().Value.(*future))
	}
}

// drop lets a future go: the store has it. s.mu is held.
func (s *Service) drop(f *future) {
	delete(s.futures, f.key())
	s.gone = max(s.gone, f.order)
	if f.element != nil {
		s.kept.list.Remove(f.element)
		s.kept.bytes -= f.op.Bytes + overhead
		f.element = nil
	}
}

// overhead is about what a future takes beside its result.
const overhead = 512
