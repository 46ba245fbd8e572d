package jobs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"macaron/internal/errs"
	"macaron/internal/jobs"
)

// lease is a worker's hold on a job. Times are the database's, so that clocks of machines need
// not agree.
type lease struct {
	q      *Queue
	job    jobs.Job
	holder string
	done   int       // steps when the time was last taken
	since  time.Time // of the step that runs
	begun  bool
}

// take takes a job, unless its group stands still or another worker has it.
func (q *Queue) take(ctx context.Context, j jobs.Job) (*lease, error) {
	l := &lease{q: q, job: j, holder: rand.Text(), since: time.Now()}
	if err := l.allowed(ctx); err != nil {
		return nil, err
	}
	n, err := q.count(ctx, `INSERT INTO jobs_leases (key, holder, until) VALUES ($1, $2, `+q.now+` + $3)
		ON CONFLICT (key) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE jobs_leases.until < `+q.now, j.Key, l.holder, q.o.Lease.Milliseconds())
	if err == nil && n == 0 {
		err = jobs.ErrLost
	}
	return l, err
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

// extend gives the sign of life; ErrLost if it comes too late.
func (l *lease) extend(ctx context.Context) error {
	n, err := l.q.count(ctx, `UPDATE jobs_leases SET until = `+l.q.now+` + $1 WHERE key = $2 AND holder = $3 AND until >= `+l.q.now, l.q.o.Lease.Milliseconds(), l.job.Key, l.holder)
	if err == nil && n == 0 {
		err = jobs.ErrLost
	}
	return err
}

// renew extends the lease three times within its length. Whoever cannot reach the database that
// long has lost it.
func (l *lease) renew(ctx context.Context, lose context.CancelCauseFunc) {
	tick := time.NewTicker(l.q.o.Lease / 3)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := l.extend(ctx)
		if err == nil {
			last = time.Now()
		}
		if err == jobs.ErrLost || time.Since(last) >= l.q.o.Lease {
			lose(jobs.ErrLost)
			return
		}
	}
}

// free gives the lease back.
func (l *lease) free(ctx context.Context) error {
	return l.q.exec(ctx, `DELETE FROM jobs_leases WHERE key = $1 AND holder = $2`, l.job.Key, l.holder)
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
	l.begun, l.done, l.since = true, done, time.Now()
	if err := l.q.exec(ctx, `INSERT INTO jobs_progress (key, done, total, note, timed, took) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (key) DO UPDATE SET done = excluded.done, total = excluded.total, note = excluded.note, timed = jobs_progress.timed + excluded.timed, took = jobs_progress.took + excluded.took`,
		l.job.Key, done, total, note, timed, int64(took)); err != nil {
		return err
	}
	if err := l.budget(ctx); err != nil {
		return err
	}
	return l.allowed(ctx)
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

// rescueUntil takes over jobs of workers that died, until ctx ends.
func (q *Queue) rescueUntil(ctx context.Context) {
	tick := time.NewTicker(q.o.Lease / 3)
	defer tick.Stop()
	for {
		if err := q.rescue(ctx); err != nil && ctx.Err() == nil {
			q.o.Log.Warn("jobs of workers that died cannot be taken over now", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// forget ends the leases of earlier processes.
func (q *Queue) forget(ctx context.Context) error {
	if !q.o.Alone {
		return nil
	}
	if err := q.exec(ctx, `UPDATE jobs_leases SET until = 0`); err != nil {
		return err
	}
	r, err := q.put.JobList(ctx, river.NewJobListParams().States(rivertype.JobStateRunning).First(1000))
	if err != nil {
		return failed(err)
	}
	for _, row := range r.Jobs {
		if err := q.release(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// rescue makes jobs available that River takes for running and nobody holds. Between being
// handed out and taking its lease a worker holds nothing: it has two leases' time for that.
func (q *Queue) rescue(ctx context.Context) error {
	r, err := q.put.JobList(ctx, river.NewJobListParams().States(rivertype.JobStateRunning).First(1000))
	if err != nil {
		return failed(err)
	}
	for _, row := range r.Jobs {
		var a args
		if err := json.Unmarshal(row.EncodedArgs, &a); err != nil || row.AttemptedAt == nil {
			continue
		}
		dead, err := q.dead(ctx, a.Key, *row.AttemptedAt)
		if err != nil {
			return err
		}
		if dead {
			if err := q.release(ctx, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// dead reports whether nobody works on a job that was handed out at a time.
func (q *Queue) dead(ctx context.Context, key string, at time.Time) (bool, error) {
	var held, over int
	err := q.db.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(CASE WHEN until < `+q.now+` THEN 1 ELSE 0 END), 0) FROM jobs_leases WHERE key = $1`, key).Scan(&held, &over)
	if held == 0 {
		return time.Since(at) > 2*q.o.Lease, failed(err)
	}
	return over > 0, failed(err)
}

func (q *Queue) release(ctx context.Context, row *rivertype.JobRow) error {
	now := time.Now().UTC()
	why, err := json.Marshal(rivertype.AttemptError{At: now, Attempt: row.Attempt, Error: died})
	if err != nil {
		return err
	}
	_, err = q.river.exec.JobRescueMany(ctx, &riverdriver.JobRescueManyParams{
		ID: []int64{row.ID}, Error: [][]byte{why}, FinalizedAt: []*time.Time{nil}, ScheduledAt: []time.Time{now},
		State: []string{string(rivertype.JobStateAvailable)}, StuckHorizon: now.Add(time.Hour),
	})
	return failed(err)
}
