package jobs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"macaron/internal/errs"
	"macaron/internal/jobs"
)

// lease is a worker's hold on a job. Times are the database's, so that clocks of machines need
// not agree.
type lease struct {
	q      *Queue
	job    jobs.Job
	holder string
	mu     sync.Mutex
	sent   time.Time // the last sign of life that the database has answered
	done   int       // steps when the time was last taken
	since  time.Time // of the step that runs
	begun  bool
	told   time.Time // up to when the work is counted
}

// finished is the holder of a job that its handler has done, for ever. River writes an end later and
// by the job's number alone; where that end is lost, the job is handed out again, and this says so.
const finished = "done"

// errDone says that a job which was handed out is done already.
var errDone = errors.New("the job is done")

// take takes a job, unless its group stands still, another worker has it, or it is done (errDone).
func (q *Queue) take(ctx context.Context, j jobs.Job) (*lease, error) {
	l := &lease{q: q, job: j, holder: rand.Text(), since: time.Now(), sent: time.Now(), told: time.Now()}
	ctx, stop := context.WithDeadline(ctx, l.end())
	defer stop()
	if err := l.allowed(ctx); err != nil {
		return nil, l.late(err)
	}
	n, err := q.count(ctx, `INSERT INTO jobs_leases (key, holder, until) VALUES ($1, $2, `+q.now+` + $3)
		ON CONFLICT (key) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE jobs_leases.holder <> $4 AND (jobs_leases.holder = '' OR jobs_leases.until < `+q.now+`)`, j.Key, l.holder, q.o.Lease.Milliseconds(), finished)
	if err == nil && n == 0 {
		err = q.held(ctx, j.Key)
	}
	return l, l.late(err)
}

// held says why a job cannot be taken: it is done, or another worker has it.
func (q *Queue) held(ctx context.Context, key string) error {
	var done bool
	if err := q.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM jobs_leases WHERE key = $1 AND holder = $2)`, key, finished).Scan(&done); err != nil {
		return failed(err)
	}
	if done {
		return errDone
	}
	return jobs.ErrLost
}

// late makes the loss of the lease of what the database has not answered in time: it is no failure of
// the handler, and counts as no try.
func (l *lease) late(err error) error {
	if err != nil && !time.Now().Before(l.end()) {
		return jobs.ErrLost
	}
	return err
}

func (q *Queue) count(ctx context.Context, query string, args ...any) (int64, error) {
	r, err := q.db.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, failed(err)
	}
	n, err := r.RowsAffected()
	return n, failed(err)
}

// allowed reports why a job must stand still.
func (l *lease) allowed(ctx context.Context) error {
	s, err := l.q.group(ctx, l.job.Group)
	switch {
	case err != nil:
		return err
	case s == "paused":
		return jobs.ErrPaused
	case s == "cancelled":
		return jobs.ErrCancelled
	}
	return nil
}

// end is when the worker must have stopped: two thirds of the lease after the last sign of life was
// sent. The database took it no earlier than that, so a third is left in which the handler may end
// before anybody else can begin.
func (l *lease) end() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent.Add(l.q.o.Lease * 2 / 3)
}

// extend gives the sign of life; ErrLost if it comes too late, or is not answered in time.
func (l *lease) extend(ctx context.Context) error {
	sent := time.Now()
	ctx, stop := context.WithDeadline(ctx, l.end())
	defer stop()
	n, err := l.q.count(ctx, `UPDATE jobs_leases SET until = `+l.q.now+` + $1 WHERE key = $2 AND holder = $3 AND until >= `+l.q.now, l.q.o.Lease.Milliseconds(), l.job.Key, l.holder)
	switch {
	case err == nil && n == 0, err != nil && !time.Now().Before(l.end()):
		return jobs.ErrLost
	case err == nil:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.sent = sent
	}
	return err
}

// look is how often a worker looks whether its job is cancelled.
const look = 500 * time.Millisecond

// renew holds the lease until ctx ends, and says why the job has to stop. It extends the lease six
// times within its length and lets no try take longer than a third of it, so that one connection
// that hangs costs nothing.
func (l *lease) renew(ctx context.Context, stop context.CancelCauseFunc) {
	every := l.q.o.Lease / 6
	tick := time.NewTicker(min(look, every))
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := l.stopped(ctx)
		if time.Since(last) >= every {
			last = time.Now()
			err = first(err, l.retried(ctx))
		}
		if err != nil {
			stop(err)
			return
		}
	}
}

// stopped reports that the job is cancelled. A pause waits for the end of the step.
func (l *lease) stopped(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, l.q.o.Lease/3)
	defer stop()
	if err := l.allowed(ctx); errors.Is(err, jobs.ErrCancelled) {
		return err
	}
	return nil // a database that does not answer, extend finds
}

// retried extends the lease; another failure than its loss is left to the next try.
func (l *lease) retried(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, l.q.o.Lease/3)
	defer stop()
	if err := l.extend(ctx); errors.Is(err, jobs.ErrLost) {
		return err
	}
	return nil
}

// free gives the lease back: anybody may take it, or nobody any more where the job is done. It stands for its length all the same, so that
// nobody takes the worker for dead before River knows how the job ended. Where the database does
// not answer it ends by itself.
func (l *lease) free(ctx context.Context, done bool) {
	ctx, stop := context.WithTimeout(ctx, l.q.o.Lease/3)
	defer stop()
	next := ""
	if done {
		next = finished
	}
	if err := l.q.exec(ctx, `UPDATE jobs_leases SET holder = $4, until = `+l.q.now+` + $1 WHERE key = $2 AND holder = $3`, l.q.o.Lease.Milliseconds(), l.job.Key, l.holder, next); err != nil {
		l.q.o.Log.Warn("a lease could not be given back, and ends by itself", "job", l.job.Key, "err", err)
	}
	if err := l.count(ctx); err != nil {
		l.q.o.Log.Warn("the last time that a job took is not counted", "job", l.job.Key, "err", err)
	}
}

// Step implements jobs.Ticket. Steps are timed from the second call on: before it, a job that
// goes on only finds what was done.
func (l *lease) Step(ctx context.Context, done, total int, note string) error {
	if err := l.extend(ctx); err != nil {
		return err
	}
	timed, took := 0, time.Duration(0)
	if l.begun && done > l.done {
		timed, took = done-l.done, time.Since(l.since)
	}
	if !l.begun || done != l.done { // else the step goes on
		l.since = time.Now()
	}
	l.begun, l.done = true, done
	if err := l.q.exec(ctx, `INSERT INTO jobs_progress (key, done, total, note, timed, took) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (key) DO UPDATE SET done = excluded.done, total = excluded.total, note = excluded.note, timed = jobs_progress.timed + excluded.timed, took = jobs_progress.took + excluded.took`,
		l.job.Key, done, total, note, timed, int64(took)); err != nil {
		return err
	}
	if err := l.count(ctx); err != nil {
		return err
	}
	if err := l.budget(ctx); err != nil {
		return err
	}
	return l.allowed(ctx)
}

// count adds what was worked since it was counted last.
func (l *lease) count(ctx context.Context) error {
	now := time.Now()
	err := l.q.exec(ctx, `INSERT INTO jobs_worked (key, took) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET took = jobs_worked.took + excluded.took`, l.job.Key, int64(now.Sub(l.told)))
	if err == nil {
		l.told = now
	}
	return err
}

func (l *lease) budget(ctx context.Context) error {
	if l.job.Most == 0 {
		return nil
	}
	var took time.Duration
	if err := l.q.db.QueryRowContext(ctx, `SELECT took FROM jobs_progress WHERE key = $1`, l.job.Key).Scan(&took); err != nil {
		return failed(err)
	}
	if took < l.job.Most {
		return nil
	}
	return jobs.Final(errs.New(errs.BudgetSpent, fmt.Sprintf("the job %s may take %s, and its steps took %s", l.job.Key, l.job.Most, took.Round(time.Millisecond)), "raise its budget"))
}
