package sqlite

import (
	"context"
	"database/sql"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// group is how many writes share one commit at most.
const group = 64

// job is one write: apply runs inside the transaction, in its own savepoint.
type job struct {
	apply func(ctx context.Context, c *sql.Conn) error
	kind  record.Kind // for Fault
	done  chan error
}

// do hands a write to the writer and waits for its commit. Once accepted it is
// carried out whether or not ctx ends, so that the answer is never in doubt.
func (s *Store) do(ctx context.Context, kind record.Kind, apply func(context.Context, *sql.Conn) error) error {
	j := &job{apply: apply, kind: kind, done: make(chan error, 1)}
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

// poll takes a queued write without waiting.
func (s *Store) poll() (*job, bool) {
	select {
	case j, open := <-s.queue:
		return j, open
	default:
		return nil, false
	}
}

// commit writes the jobs in one transaction. When that fails as a whole, each is
// tried alone, so that only the one at fault fails.
func (s *Store) commit(jobs []*job) {
	ctx := context.Background()
	results, err := s.transact(ctx, jobs)
	if err != nil && len(jobs) > 1 {
		for _, j := range jobs {
			s.commit([]*job{j})
		}
		return
	}
	for i, j := range jobs {
		if err != nil {
			results[i] = err
		}
		j.done <- results[i]
	}
}

// transact gives each job's own error, or the one that undid all of them.
func (s *Store) transact(ctx context.Context, jobs []*job) ([]error, error) {
	results := make([]error, len(jobs))
	if _, err := s.writer.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return results, err
	}
	for i, j := range jobs {
		if results[i] = s.savepoint(ctx, j); results[i] != nil && lost(results[i]) {
			return results, s.rollback(ctx, results[i])
		}
	}
	for i, j := range jobs {
		if results[i] == nil {
			if err := s.fault(BeforeCommit, j.kind); err != nil {
				return results, s.rollback(ctx, err)
			}
		}
	}
	if _, err := s.writer.ExecContext(ctx, "COMMIT"); err != nil {
		return results, s.rollback(ctx, err)
	}
	for i, j := range jobs {
		if results[i] == nil {
			results[i] = s.fault(AfterCommit, j.kind)
		}
	}
	return results, nil
}

// savepoint runs a job so that its failure undoes only itself.
func (s *Store) savepoint(ctx context.Context, j *job) error {
	if _, err := s.writer.ExecContext(ctx, "SAVEPOINT job"); err != nil {
		return err
	}
	failed := j.apply(ctx, s.writer)
	if failed != nil {
		if lost(failed) {
			return failed
		}
		if _, err := s.writer.ExecContext(ctx, "ROLLBACK TO job"); err != nil {
			return err
		}
	}
	if _, err := s.writer.ExecContext(ctx, "RELEASE job"); err != nil {
		return err
	}
	return failed
}

// rollback ends the transaction and gives the cause. SQLite may have ended it
// already, so an error here says nothing new.
func (s *Store) rollback(ctx context.Context, cause error) error {
	_, _ = s.writer.ExecContext(ctx, "ROLLBACK")
	return cause
}
