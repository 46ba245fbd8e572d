package jobs

import (
	"context"
	"encoding/json"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"
)

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
		if row.AttemptedAt == nil {
			continue
		}
		if err := q.release(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// rescue makes jobs available that River takes for running and nobody holds.
func (q *Queue) rescue(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, q.o.Lease) // a connection that hangs must not end it
	defer stop()
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

// dead reports whether nobody works on a job that was handed out at a time. Between being handed
// out and taking its lease a worker holds nothing: it has two leases' time for that.
func (q *Queue) dead(ctx context.Context, key string, at time.Time) (dead bool, err error) {
	err = q.db.QueryRowContext(ctx, `SELECT `+q.now+` - $1 > $2 AND NOT EXISTS (SELECT 1 FROM jobs_leases WHERE key = $3 AND until >= `+q.now+`)`,
		at.UnixMilli(), 2*q.o.Lease.Milliseconds(), key).Scan(&dead)
	return dead, failed(err)
}

// free reports whether nobody holds a job.
func (q *Queue) free(ctx context.Context, key string) (free bool, err error) {
	err = q.db.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM jobs_leases WHERE key = $1 AND holder <> '' AND until >= `+q.now+`)`, key).Scan(&free)
	return free, failed(err)
}

// release makes a job available again, unless it was handed out anew since it was looked at.
func (q *Queue) release(ctx context.Context, row *rivertype.JobRow) error {
	now := time.Now().UTC()
	why, err := json.Marshal(rivertype.AttemptError{At: now, Attempt: row.Attempt, Error: died})
	if err != nil {
		return err
	}
	_, err = q.river.exec.JobRescueMany(ctx, &riverdriver.JobRescueManyParams{
		ID: []int64{row.ID}, Error: [][]byte{why}, FinalizedAt: []*time.Time{nil}, ScheduledAt: []time.Time{now},
		State: []string{string(rivertype.JobStateAvailable)}, StuckHorizon: row.AttemptedAt.Add(time.Millisecond),
	})
	return failed(err)
}
