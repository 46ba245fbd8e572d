package jobs

import (
	"context"
	"time"

	"macaron/internal/jobs"
)

// settled is how long Resume waits for jobs that are just changing hands.
const settled = 2 * again

// Resume undoes Pause and Cancel, and tries at once what had failed, was cancelled or waits for its
// next try. A job that is just handed out or given back may still wait for the end of the cancellation
// that its worker has seen, so it is looked at again until it has come to rest. One that takes longer
// goes on by itself: what is cancelled is never ended, but handed out again and again.
func (q *Queue) Resume(ctx context.Context, group string) error {
	if err := q.set(ctx, group, ""); err != nil {
		return err
	}
	goes := map[int64]bool{}
	for end := time.Now().Add(settled); ; {
		rest, err := q.resume(ctx, group, goes)
		if err != nil || rest || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return failed(ctx.Err())
		case <-time.After(poll):
		}
	}
}

// resume lets the jobs of a group go on and notes which do, each once: what fails again meanwhile has
// failed. rest reports that all do.
func (q *Queue) resume(ctx context.Context, group string, goes map[int64]bool) (rest bool, err error) {
	all, err := q.find(ctx, `k.grp = $1`, group)
	rest = true
	for _, f := range all {
		if err == nil && !goes[f.id] {
			goes[f.id], err = q.goOn(ctx, f)
			rest = rest && goes[f.id]
		}
	}
	return rest, err
}

// goOn lets one job go on, unless River has it as running and nobody holds it: then it is just handed
// out, and its worker may have seen the group cancelled, or River writes how it ended. Who holds it now
// looks at the group once more when it ends (worker.cancelled).
func (q *Queue) goOn(ctx context.Context, f found) (bool, error) {
	s, err := q.status(ctx, f)
	switch {
	case err != nil, s.State == jobs.Running && !f.held:
		return false, err
	case s.State == jobs.Running, s.State == jobs.Done:
		return true, nil
	}
	_, err = q.put.JobRetry(ctx, f.id)
	return err == nil, failed(err)
}
