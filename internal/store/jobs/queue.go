package jobs

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"macaron/internal/errs"
	"macaron/internal/jobs"
)

// args are what River keeps of a job. Its key makes it unique in every state: what is done is
// not done again.
type args struct {
	Key  string   `json:"key" river:"unique"`
	Body jobs.Job `json:"job"`
}

// Kind implements river.JobArgs.
func (args) Kind() string { return "macaron" }

const (
	defaultTries = 5
	// endless is what River may try: it counts pauses and workers that died, and ours does not.
	endless = 1 << 14
)

// Enqueue puts jobs into the queue. Those whose keys it has, in whatever state, stay as they are.
func (q *Queue) Enqueue(ctx context.Context, all ...jobs.Job) error {
	for _, j := range all {
		if j.Key == "" || j.Group == "" || j.Kind == "" {
			return errs.New(errs.Internal, "a job without key, group or kind", "")
		}
		if j.Tries == 0 {
			j.Tries = defaultTries
		}
		r, err := q.put.Insert(ctx, args{j.Key, j}, &river.InsertOpts{MaxAttempts: endless, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: rivertype.JobStates()}})
		if err != nil {
			return failed(err)
		}
		if err := q.exec(ctx, `INSERT INTO jobs_keys (key, id, grp, place) VALUES ($1, $2, $3, $2) ON CONFLICT (key) DO NOTHING`, j.Key, r.Job.ID, j.Group); err != nil {
			return err
		}
	}
	return nil
}

// Pause lets no job of a group begin; those that run stop behind their step.
func (q *Queue) Pause(ctx context.Context, group string) error { return q.set(ctx, group, "paused") }

// Paused reports whether a group is paused.
func (q *Queue) Paused(ctx context.Context, group string) (bool, error) {
	s, err := q.group(ctx, group)
	return s == "paused", err
}

// Worked reports whether a worker is at a job of a group, or was within a lease: between two jobs, and
// after one that was killed, nobody can tell it earlier.
func (q *Queue) Worked(ctx context.Context, group string) (is bool, err error) {
	err = q.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM jobs_leases l JOIN jobs_keys k ON k.key = l.key WHERE k.grp = $1 AND l.until >= `+q.now+`)`, group).Scan(&is)
	return is, failed(err)
}

// Cancel ends the jobs of a group: those that run stop within half a second, and the others are
// cancelled from now on. River is never told: its own cancellation reaches a worker some time later,
// and would then end a job that was resumed meanwhile.
func (q *Queue) Cancel(ctx context.Context, group string) error {
	return q.set(ctx, group, "cancelled")
}

func (q *Queue) set(ctx context.Context, group, state string) error {
	return q.exec(ctx, `INSERT INTO jobs_groups (name, state) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET state = excluded.state`, group, state)
}

// group is the state that somebody gave a group: "", paused, cancelled.
func (q *Queue) group(ctx context.Context, name string) (state string, err error) {
	err = q.db.QueryRowContext(ctx, `SELECT state FROM jobs_groups WHERE name = $1`, name).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return state, failed(err)
}

func (q *Queue) exec(ctx context.Context, query string, args ...any) error {
	_, err := q.db.ExecContext(ctx, query, args...)
	return failed(err)
}

// Idle reports whether every job of a group has ended.
func (q *Queue) Idle(ctx context.Context, group string) (bool, error) {
	all, err := q.List(ctx, group)
	for _, s := range all {
		if !s.State.Ended() {
			return false, err
		}
	}
	return true, err
}

// forever is longer than any job takes: that a worker died, its lease tells, and not the time.
const forever = 100 * 365 * 24 * time.Hour
