package jobs

import (
	"context"
	"encoding/json"
	"time"

	"github.com/riverqueue/river/rivertype"

	"macaron/internal/errs"
	"macaron/internal/jobs"
)

// Job tells where a job stands; errs.NotFound if there is none of the key.
func (q *Queue) Job(ctx context.Context, key string) (jobs.Status, error) {
	all, err := q.list(ctx, `k.key = $1`, key)
	if err == nil && len(all) == 0 {
		err = failed(rivertype.ErrNotFound)
	}
	if err != nil {
		return jobs.Status{}, err
	}
	return all[0], nil
}

// List tells where the jobs of a group stand, in the order in which they were enqueued.
func (q *Queue) List(ctx context.Context, group string) ([]jobs.Status, error) {
	return q.list(ctx, `k.grp = $1`, group)
}

// list reads again where jobs came in meanwhile: a job that has ended after it enqueued another one
// is never told of without the other.
func (q *Queue) list(ctx context.Context, where, arg string) ([]jobs.Status, error) {
	for {
		all, err := q.once(ctx, where, arg)
		if err != nil {
			return nil, err
		}
		n := 0
		if err := q.db.QueryRowContext(ctx, `SELECT count(*) FROM jobs_keys k WHERE `+where, arg).Scan(&n); err != nil || n == len(all) {
			return all, failed(err)
		}
	}
}

// found is a job as our tables have it.
type found struct {
	id    int64
	steps jobs.Progress
	took  time.Duration // that workers were at it
	group string        // the state that somebody gave it
	held  bool          // a worker has its lease
}

func (q *Queue) once(ctx context.Context, where, arg string) (all []jobs.Status, err error) {
	ours, err := q.find(ctx, where, arg)
	if err != nil {
		return nil, err
	}
	for _, f := range ours {
		s, err := q.status(ctx, f)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (q *Queue) status(ctx context.Context, f found) (jobs.Status, error) {
	row, err := q.put.JobGet(ctx, f.id)
	if err != nil {
		return jobs.Status{}, failed(err)
	}
	return status(row, f)
}

func (q *Queue) find(ctx context.Context, where, arg string) (all []found, err error) {
	rows, err := q.db.QueryContext(ctx, `SELECT k.id, coalesce(p.done, 0), coalesce(p.total, 0), coalesce(p.note, ''), coalesce(p.timed, 0), coalesce(p.took, 0), coalesce(w.took, 0), coalesce(g.state, ''),
		EXISTS (SELECT 1 FROM jobs_leases l WHERE l.key = k.key AND l.holder <> '' AND l.until >= `+q.now+`)
		FROM jobs_keys k LEFT JOIN jobs_progress p ON p.key = k.key LEFT JOIN jobs_worked w ON w.key = k.key LEFT JOIN jobs_groups g ON g.name = k.grp WHERE `+where+` ORDER BY k.place`, arg)
	if err != nil {
		return nil, failed(err)
	}
	for rows.Next() {
		var f found
		p := &f.steps
		if err := rows.Scan(&f.id, &p.Done, &p.Total, &p.Note, &p.Timed, &p.Took, &f.took, &f.group, &f.held); err != nil {
			return nil, failed(first(err, rows.Close()))
		}
		all = append(all, f)
	}
	return all, failed(first(rows.Err(), rows.Close()))
}

var states = map[rivertype.JobState]jobs.State{
	rivertype.JobStateAvailable: jobs.Waiting, rivertype.JobStatePending: jobs.Waiting, rivertype.JobStateRetryable: jobs.Waiting, rivertype.JobStateScheduled: jobs.Waiting,
	rivertype.JobStateRunning: jobs.Running, rivertype.JobStateCompleted: jobs.Done, rivertype.JobStateDiscarded: jobs.Failed, rivertype.JobStateCancelled: jobs.Cancelled,
}

// status puts together what River and our tables say. What nobody works on in a cancelled group is
// cancelled, also while River hands it out to a worker, who never takes its lease. River itself never
// learns of it.
func status(row *rivertype.JobRow, f found) (jobs.Status, error) {
	var a args
	if err := json.Unmarshal(row.EncodedArgs, &a); err != nil {
		return jobs.Status{}, errs.Wrap(errs.FormatInvalid, err, "a job cannot be read", "it was written by another build of macaron")
	}
	s := jobs.Status{Job: a.Body, State: states[row.State], Tried: failures(row), Since: row.CreatedAt, Progress: f.steps, Worked: f.took}
	if n := len(row.AttemptedBy); n > 0 {
		s.Worker = row.AttemptedBy[n-1]
	}
	switch {
	case f.group == "cancelled" && (s.State == jobs.Waiting || s.State == jobs.Running && !f.held):
		s.State = jobs.Cancelled
	case s.State == jobs.Cancelled && !cancelled(row):
		s.State = jobs.Failed // of another try nothing was to be expected
	}
	if s.State != jobs.Cancelled {
		s.Last = last(row)
	}
	return s, nil
}
