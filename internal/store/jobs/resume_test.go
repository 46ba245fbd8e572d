package jobs

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"macaron/internal/jobs"
)

// many is more steps than a test waits for.
const many = 1 << 20

// Pause stops behind a step and goes on there; Cancel ends; both from another process's queue.
func TestPauseResumeCancel(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		q, other := opened(t, o), opened(t, o)
		var steps atomic.Int64
		works(t, q, map[string]jobs.Handler{"steps": func(ctx context.Context, _ jobs.Job, tk jobs.Ticket) error {
			for {
				n := int(steps.Load())
				if err := tk.Step(ctx, n, many, "step"); err != nil || n == many {
					return err
				}
				steps.Add(1)
				time.Sleep(5 * time.Millisecond)
			}
		}}, 1)
		must(t, q.Enqueue(t.Context(), jobs.Job{Key: "s", Group: "g", Kind: "steps"}, jobs.Job{Key: "t", Group: "g", Kind: "steps"}))
		until(t, "steps are timed", func() bool { return state(t, other, "s").Progress.Timed > 3 })
		must(t, other.Pause(t.Context(), "g"))
		until(t, "it is paused", func() bool { return state(t, q, "s").State == jobs.Waiting })
		at := steps.Load()
		if p := state(t, q, "s").Progress; int64(p.Done) != at || p.Total != many {
			t.Errorf("paused after %d steps, progress says %+v", at, p)
		}
		must(t, other.Resume(t.Context(), "g"))
		until(t, "it goes on", func() bool { return steps.Load() > at })
		must(t, other.Cancel(t.Context(), "g"))
		until(t, "both are cancelled", func() bool {
			return state(t, q, "s").State == jobs.Cancelled && state(t, q, "t").State == jobs.Cancelled
		})
		at = steps.Load()
		must(t, other.Resume(t.Context(), "g"))
		until(t, "it goes on after it was cancelled", func() bool { return steps.Load() > at+50 })
	})
}

// Whatever a worker is about when Cancel and Resume come, the last one counts.
func TestTheLastOfCancelAndResumeCounts(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		q, other := opened(t, o), opened(t, o)
		var steps [3]atomic.Int64
		works(t, q, map[string]jobs.Handler{"endless": func(ctx context.Context, j jobs.Job, tk jobs.Ticket) error {
			for {
				if err := tk.Step(ctx, 0, 0, ""); err != nil {
					return err
				}
				steps[j.Key[0]-'0'].Add(1)
				time.Sleep(5 * time.Millisecond)
			}
		}}, len(steps))
		stand := func(is func(s jobs.State) bool) func() bool {
			return func() bool {
				all, err := other.List(t.Context(), "g")
				must(t, err)
				return !slices.ContainsFunc(all, func(s jobs.Status) bool { return !is(s.State) })
			}
		}
		for i := range steps {
			must(t, q.Enqueue(t.Context(), jobs.Job{Key: strconv.Itoa(i), Group: "g", Kind: "endless"}))
		}
		for round := range 6 {
			must(t, other.Cancel(t.Context(), "g"))
			switch round % 3 {
			case 0: // at the instant in which the last worker gives its job back
				until(t, "all are cancelled", stand(func(s jobs.State) bool { return s == jobs.Cancelled }))
			case 1: // somewhere in it
				time.Sleep(time.Duration(round) * 100 * time.Millisecond)
			}
			must(t, other.Resume(t.Context(), "g"))
			for i := range steps {
				at := steps[i].Load()
				until(t, "all go on", func() bool { return steps[i].Load() > at+2 })
			}
		}
		must(t, other.Resume(t.Context(), "g"))
		must(t, other.Cancel(t.Context(), "g"))
		until(t, "all are cancelled", stand(func(s jobs.State) bool { return s == jobs.Cancelled }))
		sum := func() int64 { return steps[0].Load() + steps[1].Load() + steps[2].Load() }
		at := sum()
		time.Sleep(2 * again)
		if now := sum(); now != at || !stand(func(s jobs.State) bool { return s == jobs.Cancelled })() {
			t.Errorf("%d steps after all were cancelled", now-at)
		}
	})
}

// What failed before it was cancelled is cancelled, and what failed for good after it was resumed has
// failed; also if nobody works.
func TestCancelledIsNotFailed(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		q := opened(t, o)
		var tries atomic.Int64
		end := works(t, q, map[string]jobs.Handler{"fail": func(context.Context, jobs.Job, jobs.Ticket) error { tries.Add(1); return errors.New("no") }}, 1)
		must(t, q.Enqueue(t.Context(), jobs.Job{Key: "f", Group: "g", Kind: "fail", Tries: 3}))
		until(t, "it has failed once", func() bool { s := state(t, q, "f"); return s.Tried > 0 && s.State == jobs.Waiting })
		must(t, q.Cancel(t.Context(), "g"))
		until(t, "it is cancelled", func() bool { return state(t, q, "f").State.Ended() })
		if s := state(t, q, "f"); s.State != jobs.Cancelled || s.Last != nil {
			t.Errorf("a job that was cancelled is %+v, %+v", s, s.Last)
		}
		must(t, q.Resume(t.Context(), "g"))
		until(t, "it has failed", func() bool { return state(t, q, "f").State.Ended() })
		if s := state(t, q, "f"); s.State != jobs.Failed || s.Tried != 3 || tries.Load() != 3 {
			t.Errorf("it is %+v after %d tries", s, tries.Load())
		}
		end()
		must(t, q.Enqueue(t.Context(), jobs.Job{Key: "n", Group: "g", Kind: "fail"}))
		must(t, q.Cancel(t.Context(), "g"))
		if s := state(t, q, "n"); s.State != jobs.Cancelled {
			t.Errorf("a job that nobody had is %+v", s)
		}
	})
}
