package sqlite

import (
	"context"
	"time"

	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/store/logsql"
)

// group is how many writes share one commit at most.
const group = 64

// linger is how long a lazy write waits for another one whose commit it can share.
const linger = 5 * time.Millisecond

// job is one write: apply runs inside the transaction, more than once if another job of it
// failed; committed, if not nil, when it is durable and before anybody is told.
type job struct {
	apply     func(ctx context.Context, db logsql.Writer) error
	committed func()
	lazy      bool
	kind      record.Kind // for Fault
	done      chan error
}

// do submits a write of which nothing is remembered.
func (s *Store) do(ctx context.Context, kind record.Kind, apply func(context.Context, logsql.Writer) error) error {
	return s.submit(ctx, &job{apply: apply, kind: kind, done: make(chan error, 1)})
}

// submit hands a write to the writer and waits for its commit. Once accepted it is
// carried out whether or not ctx ends, so that the answer is never in doubt.
func (s *Store) submit(ctx context.Context, j *job) error {
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return errs.New(errs.StorageFailed, "the log is closed", "this process is shutting down; try again later")
	}
	var err error
	select {
	case s.queue <- j:
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.mu.RUnlock()
	if err == nil {
		err = <-j.done
	}
	return s.coded(err)
}

// run is the one goroutine that writes. It takes what is queued into one commit.
func (s *Store) run() {
	defer close(s.done)
	for first := range s.queue {
		jobs := []*job{first}
		if first.lazy {
			jobs = s.await(jobs)
		}
		for len(jobs) < group {
			next, more := s.poll()
			if !more {
				break
			}
			jobs = append(jobs, next)
		}
		s.commit(jobs)
	}
}

// await gathers writes until one comes that somebody waits for.
func (s *Store) await(jobs []*job) []*job {
	over := time.NewTimer(linger)
	defer over.Stop()
	for len(jobs) < group {
		select {
		case j, more := <-s.queue:
			if !more {
				return jobs
			}
			if jobs = append(jobs, j); !j.lazy {
				return jobs
			}
		case <-over.C:
			return jobs
		}
	}
	return jobs
}

// poll takes a queued write without waiting.
func (s *Store) poll() (*job, bool) {
	select {
	case j, open := <-s.queue:
		return j, open
	default:
		return nil, false
	}
}

// commit writes the jobs in one transaction. When that fails, for whatever reason, each is
// tried alone, so that only the one at fault fails. Failures are rare, and a savepoint for
// each job would cost every write as much as a row of it.
func (s *Store) commit(jobs []*job) {
	err := s.writer.Raw(func(any) error { return s.transact(context.Background(), jobs) })
	if err != nil && len(jobs) > 1 {
		for _, j := range jobs {
			s.commit([]*job{j})
		}
		return
	}
	s.uncopied.Add(int64(1 + len(jobs)))
	for _, j := range jobs {
		result := err
		if err == nil && j.committed != nil {
			j.committed()
		}
		if err == nil {
			result = s.fault(AfterCommit, j.kind)
		}
		j.done <- result
	}
}

// transact writes all jobs or none of them.
func (s *Store) transact(ctx context.Context, jobs []*job) error {
	if _, err := s.pen.Exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, j := range jobs {
		if err := j.apply(ctx, s.pen); err != nil {
			return s.rollback(ctx, err)
		}
	}
	for _, j := range jobs {
		if err := s.fault(BeforeCommit, j.kind); err != nil {
			return s.rollback(ctx, err)
		}
	}
	if _, err := s.pen.Exec(ctx, "COMMIT"); err != nil {
		return s.rollback(ctx, err)
	}
	return nil
}

// rollback ends the transaction and gives the cause. SQLite may have ended it
// already, so an error here says nothing new.
func (s *Store) rollback(ctx context.Context, cause error) error {
	_, _ = s.pen.Exec(ctx, "ROLLBACK")
	return cause
}
