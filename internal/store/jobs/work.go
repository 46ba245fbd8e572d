package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"macaron/internal/errs"
	"macaron/internal/jobs"
)

const (
	poll  = 100 * time.Millisecond // for new jobs, where the database tells of none
	again = time.Second            // a paused job is looked at again after
	long  = time.Minute            // and a cancelled one
)

// config is that of a client; one without workers hands out nothing.
func (q *Queue) config(workers *river.Workers) *river.Config {
	return &river.Config{
		Logger: q.o.Log, Workers: workers, FetchCooldown: poll / 2, FetchPollInterval: poll, RetryPolicy: backoff{},
		JobTimeout: -1, RescueStuckJobsAfter: forever, LeaderElectionDisabled: workers == nil,
		CompletedJobRetentionPeriod: -1, CancelledJobRetentionPeriod: -1, DiscardedJobRetentionPeriod: -1,
	}
}

// backoff waits a second after the first failure, and twice as long after each other one.
type backoff struct{}

// NextRetry implements river.ClientRetryPolicy.
func (backoff) NextRetry(j *rivertype.JobRow) time.Time {
	return time.Now().Add(min(time.Minute, time.Second<<min(6, max(0, j.Attempt-1))))
}

// Work works on jobs, so many at once, until ctx ends. What runs then is put back, to go on
// elsewhere; what does not stop within ten seconds is left to its lease.
func (q *Queue) Work(ctx context.Context, handlers map[string]jobs.Handler, parallel int) error {
	err := q.forget(ctx)
	if ctx.Err() != nil {
		return nil // the work was over before it began
	}
	if err != nil {
		return err
	}
	w := &worker{q: q, handlers: handlers, over: ctx}
	all := river.NewWorkers()
	river.AddWorker(all, w)
	c := q.config(all)
	c.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: parallel}}
	cl, err := q.river.client(c)
	if err != nil {
		return failed(err)
	}
	if err := cl.Start(context.WithoutCancel(ctx)); err != nil {
		return failed(err)
	}
	q.rescueUntil(ctx)
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer stop()
	return failed(cl.StopAndCancel(end))
}

// worker does jobs by their kinds.
type worker struct {
	river.WorkerDefaults[args]
	q        *Queue
	handlers map[string]jobs.Handler
	over     context.Context // of this worker's process
}

// Timeout implements river.Worker: none.
func (*worker) Timeout(*river.Job[args]) time.Duration { return -1 }

// Work implements river.Worker.
func (w *worker) Work(ctx context.Context, j *river.Job[args]) error {
	err := w.hold(ctx, j)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jobs.ErrCancelled):
		return w.cancelled(ctx, j.Args.Body.Group)
	case errors.Is(err, jobs.ErrLost):
		return w.leave(ctx, j)
	case errors.Is(err, jobs.ErrPaused):
		return river.JobSnooze(again)
	case w.over.Err() != nil:
		return river.JobSnooze(0)
	case jobs.IsFinal(err), failures(j.JobRow)+1 >= j.Args.Body.Tries:
		return river.JobCancel(written(err))
	}
	// What went wrong may be the disk that the queue is on too: then the queue never says it.
	w.q.o.Log.Error("a job failed, and is tried again", "job", j.Args.Key, "err", err)
	return written(err)
}

// cancelled puts back a job of a cancelled group. River is not to end it: it writes an end some time
// later, and so would end a job that was resumed meanwhile. One of a group that was resumed already
// goes on.
func (w *worker) cancelled(ctx context.Context, group string) error {
	s, err := w.q.group(ctx, group)
	switch {
	case err != nil:
		return river.JobSnooze(again)
	case s != "cancelled":
		return river.JobSnooze(0)
	}
	return river.JobSnooze(long)
}

// leave gives up a job whose lease is another's. River writes how a job ended by its number alone,
// whoever has it by then: so nothing is told to River as long as another worker has the job.
func (w *worker) leave(ctx context.Context, j *river.Job[args]) error {
	for {
		row, err := w.q.put.JobGet(ctx, j.ID)
		if err == nil && row.State != rivertype.JobStateRunning {
			return river.JobSnooze(again)
		}
		mine := err == nil && row.AttemptedAt != nil && j.AttemptedAt != nil && row.AttemptedAt.Equal(*j.AttemptedAt)
		if free, err := w.q.free(ctx, j.Args.Key); err == nil && mine && free {
			return river.JobSnooze(again)
		}
		select {
		case <-ctx.Done():
			return river.JobSnooze(again)
		case <-time.After(again):
		}
	}
}

// hold does a job under its lease.
func (w *worker) hold(ctx context.Context, j *river.Job[args]) error {
	body := j.Args.Body
	do, ok := w.handlers[body.Kind]
	if !ok {
		return errs.New(errs.Unsupported, fmt.Sprintf("no worker of this build does jobs of the kind %.40q", body.Kind), "let a worker of the build that enqueued it go on")
	}
	l, err := w.q.take(ctx, body)
	switch {
	case errors.Is(err, errDone):
		return nil
	case err != nil:
		return err
	}
	held, stop := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() { defer close(renewed); l.renew(held, stop) }()
	err = do(held, body, l)
	if cause := context.Cause(held); err != nil && (errors.Is(cause, jobs.ErrLost) || errors.Is(cause, jobs.ErrCancelled)) {
		err = cause
	}
	stop(nil)
	<-renewed
	l.free(context.WithoutCancel(ctx), err == nil)
	return err
}
