package engine

import (
	"context"
	"slices"
	"time"

	"macaron/internal/engine/kernel"
	"macaron/internal/errs"
)

// job is work for when nobody waits for an answer.
type job struct {
	ctx    context.Context
	chunk  func(*kernel.Pool) (more bool)
	active bool // a chunk runs now; under Engine.mu
	done   chan struct{}
	err    error // before done is closed
}

// Background does other work on the engine's threads, such as training: it calls chunk
// again and again, only while no request runs or waits, until it returns false or ctx
// ends. A request that comes waits for the end of one chunk at most, so chunks should be
// short. Several jobs take turns. No chunk runs after Background has returned.
func (e *Engine) Background(ctx context.Context, chunk func(*kernel.Pool) (more bool)) error {
	j := &job{ctx: ctx, chunk: chunk, done: make(chan struct{})}
	e.mu.Lock()
	if e.closing {
		e.mu.Unlock()
		return closingError()
	}
	e.jobs = append(e.jobs, j)
	e.mu.Unlock()
	e.nudge()
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
	}
	e.mu.Lock()
	if !j.active {
		e.quit(j, canceled(ctx))
	}
	e.mu.Unlock()
	<-j.done
	return j.err
}

func closingError() error {
	return errs.New(errs.UpstreamUnavailable, "the engine is closing", "try again when it is back")
}

// quit takes a job off the list, if it is still there; e.mu is held.
func (e *Engine) quit(j *job, err error) {
	if i := slices.Index(e.jobs, j); i >= 0 {
		e.jobs = slices.Delete(e.jobs, i, i+1)
		j.err = err
		close(j.done)
	}
}

// work runs one chunk of the job whose turn it is, and tells whether there was one.
func (l *loop) work() bool {
	e := l.e
	e.mu.Lock()
	if len(e.jobs) == 0 {
		e.mu.Unlock()
		return false
	}
	j := e.jobs[0]
	j.active = true
	e.mu.Unlock()

	more := false
	if j.ctx.Err() == nil {
		start := time.Now()
		more = j.chunk(l.pool)
		l.stats.Background += time.Since(start)
		l.stats.Chunks++
	}

	e.mu.Lock()
	defer e.mu.Unlock()
	j.active = false
	switch {
	case j.ctx.Err() != nil:
		e.quit(j, canceled(j.ctx))
	case !more:
		e.quit(j, nil)
	default:
		e.jobs = append(e.jobs[1:], j)
	}
	return true
}

// dismiss ends all jobs when the engine closes.
func (l *loop) dismiss() {
	l.e.mu.Lock()
	defer l.e.mu.Unlock()
	for len(l.e.jobs) > 0 {
		l.e.quit(l.e.jobs[0], closingError())
	}
}
