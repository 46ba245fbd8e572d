package mint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"macaron/internal/errs"
	"macaron/internal/mint/ledger"
)

// trainLoop carries out operations of models, one at a time, until the service closes.
func (s *Service) trainLoop() {
	for {
		m, f := s.nextTurn()
		if m == nil {
			return
		}
		start := time.Now()
		s.work(m, f)
		s.mu.Lock()
		took := time.Since(start)
		m.running, m.training, m.ran = false, false, s.o.Clock.Now()
		m.work += took
		s.turns.spend(m.row.Owner, took)
		s.changed.Broadcast()
		s.mu.Unlock()
	}
}

// nextTurn waits for an operation whose turn it is: of the owner who has fewest under way and
// has had least training, of the model that waits longest. Operations that are under way share
// the engine in short turns, and the last place is for an owner who has none of the others, so
// however long a pass is, it does not keep another tenant out. It gives nil when the service closes.
func (s *Service) nextTurn() (*model, *future) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if s.ctx.Err() != nil {
			return nil, nil
		}
		if m := s.pick(); m != nil {
			m.running, m.training = true, true
			s.turns.enter(m.row.Owner, s.wants)
			return m, m.ahead[m.row.Applied+1]
		}
		s.changed.Wait()
	}
}

func (s *Service) pick() (best *model) {
	now := s.o.Clock.Now()
	running, busy := map[string]int{}, 0
	for _, m := range s.models {
		if m.training {
			running[m.row.Owner]++
			busy++
		}
	}
	last := busy > 0 && busy == s.o.Limits.Trainers-1
	for _, m := range s.models {
		if n := running[m.row.Owner]; !m.runnable(now) || last && n > 0 {
			continue
		} else if best == nil || s.sooner(m, n, best, running[best.row.Owner]) {
			best = m
		}
	}
	return best
}

// sooner tells whether a model's turn comes before another's; their owners have n and k
// operations under way.
func (s *Service) sooner(m *model, n int, other *model, k int) bool {
	switch {
	case m.row.Owner == other.row.Owner:
		return m.before(other)
	case n != k:
		return n < k
	}
	return s.turns.before(m.row.Owner, other.row.Owner)
}

func (m *model) runnable(now time.Time) bool {
	f := m.ahead[m.row.Applied+1]
	return f != nil && !m.running && !m.row.Unloaded && !now.Before(m.retry)
}

func (m *model) before(other *model) bool {
	if !m.ran.Equal(other.ran) {
		return m.ran.Before(other.ran)
	}
	return m.row.ID < other.row.ID
}

// wants tells whether an owner has an operation that could run or runs.
func (s *Service) wants(owner string) bool {
	for _, m := range s.models {
		if m.row.Owner == owner && (m.running || m.ahead[m.row.Applied+1] != nil) {
			return true
		}
	}
	return false
}

// work carries out the operation whose turn it is and commits what came of it. Until that
// commit nothing has happened: after a failure of the store or the end of the process, the
// model is restored to what was committed and the operation is carried out once more.
func (s *Service) work(m *model, f *future) {
	began, asked := time.Now(), f.body // which is let go with the outcome
	r, change, err := s.attempt(m, f)
	took := time.Since(began)
	if s.ctx.Err() != nil {
		return // the next process does it
	}
	if transient(err) {
		s.later(m, err)
		return
	}
	if err := s.commit(m, f, r, change, err); err != nil {
		s.later(m, err)
		return
	}
	if err == nil {
		s.measure(m, asked, r, took)
	}
	s.afterwards(m, f)
}

// attempt carries out an operation on the model's state. A panic of the arithmetic is the
// failure of this operation only.
func (s *Service) attempt(m *model, f *future) (r Result, c ledger.Change, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.o.Log.Error("an operation panicked", "model", m.row.ID, "seq", f.op.Seq, "panic", p, "stack", string(debug.Stack()))
			err = errs.Wrap(errs.Internal, fmt.Errorf("panic: %v", p), "the operation met a defect of this server", "report it with the server's log")
			m.trainer = nil
		}
	}()
	if s.isCanceled(f) {
		return r, c, canceled()
	}
	if f.gone != nil {
		return r, c, f.gone
	}
	if f.body.Load == nil && !f.body.Unload && f.body.Refused == nil {
		if err := s.restore(m); err != nil {
			return r, c, err
		}
	}
	return s.apply(m, f)
}

func (s *Service) isCanceled(f *future) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f.canceled
}

// transient tells whether an error will pass: the store's or the disk's, not the operation's.
func transient(err error) bool {
	switch errs.CodeOf(err) {
	case errs.StorageFull, errs.StorageFailed, errs.UpstreamUnavailable:
		return true
	}
	return false
}

// byUser tells whether an operation failed by what it asked, before it changed anything.
func byUser(err error) bool {
	switch errs.CodeOf(err) {
	case errs.InvalidRequest, errs.Unsupported, errs.TooLarge, errs.ContextExceeded, errs.NotFound, errs.Gone, errs.FormatInvalid, errs.Canceled:
		return true
	}
	return false
}

// later puts a model off: its state in memory may be ahead of the store's.
func (s *Service) later(m *model, err error) {
	s.o.Log.Error("an operation is tried again", "model", m.row.ID, "error", err)
	m.trainer = nil
	s.mu.Lock()
	m.retry, m.trouble = s.o.Clock.Now().Add(retryAfter), errs.As(err).Message
	s.mu.Unlock()
	time.AfterFunc(retryAfter, s.changed.Broadcast)
}

const retryAfter = time.Second

// commit fixes the outcome of an operation together with the step that it took its model to.
func (s *Service) commit(m *model, f *future, r Result, c ledger.Change, failed error) error {
	row := m.row
	if failed == nil && len(c.Models) == 1 {
		row = c.Models[0] // as the operation left it
	}
	row.Applied, row.Used = f.op.Seq, s.o.Clock.Now().UTC()
	if failed != nil {
		if c = (ledger.Change{}); !byUser(failed) {
			m.trainer = nil // whatever it did is undone by a restore
		}
	} else if Op(f.op.Kind) == OpStep {
		row.Steps++
	}
	var of about
	op, err := s.resolution(f, r, failed)
	if err == nil {
		err = json.Unmarshal(row.About, &of)
	}
	if err != nil {
		return err
	}
	c.Models, c.Resolve = []ledger.Model{row}, []ledger.Op{op}
	if err := s.o.Store.Write(context.WithoutCancel(s.ctx), c); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if row.SnapshotAt != m.row.SnapshotAt {
		m.work = 0
	}
	if !bytes.Equal(row.About, m.row.About) {
		m.about = of
	}
	m.row, m.trouble = row, ""
	delete(m.ahead, f.op.Seq)
	s.deliver(f, op, r)
	s.tell(c)
	return nil
}

// resolution is the outcome of a future as the store keeps it.
func (s *Service) resolution(f *future, r Result, failed error) (ledger.Op, error) {
	op := f.op
	op.Done = s.o.Clock.Now().UTC()
	if failed != nil {
		e := errs.As(failed)
		op.State, op.Failure, op.Category = string(Failed), e.Message, string(ByServer)
		if e.Next != "" {
			op.Failure += "; " + e.Next
		}
		switch {
		case errs.CodeOf(failed) == errs.Canceled:
			op.Category = ledger.Canceled
		case byUser(failed):
			op.Category = string(ByUser)
		}
		if errs.CodeOf(failed) == errs.Internal {
			s.o.Log.Error("an operation failed", "request", op.ID, "error", failed)
		}
		return op, nil
	}
	raw, err := pack(r)
	if err != nil {
		return op, err
	}
	op.State, op.Bytes = string(Done), int64(len(raw))
	op.Result, op.ResultBlob, err = s.lay(raw)
	return op, err
}

// deliver gives a committed outcome to those who wait for it; s.mu is held.
func (s *Service) deliver(f *future, op ledger.Op, r Result) {
	f.op, f.body = op, f.body.kept()
	f.op.Result = nil // in r
	if State(op.State) == Done {
		f.result = &r
	}
	s.count(f, -1)
	s.keep(f)
	s.stats.count(op)
	close(f.done)
	s.changed.Broadcast()
}

// kept is what a resolved future needs of how it was asked: the number of its sequences.
func (b body) kept() body {
	if b.Sample == nil {
		return body{}
	}
	return body{Sample: &Sample{N: b.Sample.N}}
}

// tell brings memory up to a change that is committed; s.mu is held.
func (s *Service) tell(c ledger.Change) {
	for _, row := range c.Samplers {
		s.samplers[row.ID] = &sampler{row: row}
	}
}

var errUnknown = errors.New("the journal has an operation of no kind")
