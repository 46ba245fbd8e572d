package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"macaron/internal/errs"
	"macaron/internal/jobs"
	"macaron/internal/store/postgres/pgtest"
)

// Leases: one that is waited for, and one that no load of the machine uses up.
const (
	short  = 5 * time.Second
	minute = time.Minute
)

// TestMain is also the worker process of tests that kill one.
func TestMain(m *testing.M) {
	if o := os.Getenv("JOBS_TEST_WORKER"); o != "" {
		if err := worked(o); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(pgtest.Around(m).Run())
}

// both runs a test on each database. The second queue is another process's.
func both(t *testing.T, test func(t *testing.T, o Options)) {
	t.Run("postgres", func(t *testing.T) { test(t, Options{URL: pgtest.Database(t), Lease: minute}) })
	t.Run("sqlite", func(t *testing.T) { test(t, Options{Path: filepath.Join(t.TempDir(), "jobs.db"), Lease: minute}) })
}

func opened(t *testing.T, o Options) *Queue {
	t.Helper()
	q, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, q.Close()) })
	return q
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// works starts workers and gives what ends them.
func works(t *testing.T, q *Queue, handlers map[string]jobs.Handler, parallel int) func() {
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- q.Work(ctx, handlers, parallel) }()
	end := func() {
		stop()
		if err, open := <-done; open {
			if err != nil {
				t.Error(err)
			}
			close(done)
		}
	}
	t.Cleanup(end)
	return end
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 6000 {
		if is() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("waited in vain: " + what)
}

func state(t *testing.T, q *Queue, key string) jobs.Status {
	t.Helper()
	s, err := q.Job(t.Context(), key)
	must(t, err)
	return s
}

// A key is one job in its whole life, also when it is done.
func TestKeysAreUnique(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		q := opened(t, o)
		var ran atomic.Int64
		works(t, q, map[string]jobs.Handler{"count": func(context.Context, jobs.Job, jobs.Ticket) error { ran.Add(1); return nil }}, 2)
		j := jobs.Job{Key: "a", Group: "g", Kind: "count", Args: json.RawMessage(`{"n":1}`)}
		must(t, q.Enqueue(t.Context(), j, j))
		until(t, "a is done", func() bool { return state(t, q, "a").State == jobs.Done })
		j.Args = json.RawMessage(`{"n":2}`)
		must(t, q.Enqueue(t.Context(), j, jobs.Job{Key: "b", Group: "g", Kind: "count"}))
		until(t, "all is done", func() bool { idle, err := q.Idle(t.Context(), "g"); return err == nil && idle })
		if ran.Load() != 2 {
			t.Errorf("2 keys ran %d times", ran.Load())
		}
		if all, err := q.List(t.Context(), "g"); err != nil || len(all) != 2 || all[0].Key != "a" || !bytes.Contains(all[0].Args, []byte("1")) {
			t.Errorf("the group is %v, %v", all, err)
		}
		if _, err := q.Job(t.Context(), "c"); errs.As(err).Code != errs.NotFound {
			t.Errorf("a job that is not there gives %v", err)
		}
	})
}

// A failing handler is tried again so often, and a final error not; either can be resumed.
func TestTriesAreCounted(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		told, err := os.Create(filepath.Join(t.TempDir(), "log"))
		must(t, err)
		defer told.Close()
		o.Log = slog.New(slog.NewTextHandler(told, nil))
		q := opened(t, o)
		var ran atomic.Int64
		good := false
		works(t, q, map[string]jobs.Handler{
			"fail": func(context.Context, jobs.Job, jobs.Ticket) error { ran.Add(1); return errors.New("no") },
			"final": func(context.Context, jobs.Job, jobs.Ticket) error {
				if good {
					return nil
				}
				return jobs.Final(errs.New(errs.Forbidden, "never", "ask"))
			},
		}, 1)
		must(t, q.Enqueue(t.Context(), jobs.Job{Key: "f", Group: "f", Kind: "fail", Tries: 2}, jobs.Job{Key: "x", Group: "x", Kind: "final"}))
		until(t, "f has failed", func() bool { return state(t, q, "f").State == jobs.Failed })
		until(t, "x has failed", func() bool { return state(t, q, "x").State == jobs.Failed })
		if s := state(t, q, "f"); ran.Load() != 2 || s.Tried != 2 || s.Last == nil || *s.Last != (jobs.Failure{Code: errs.Internal, Message: "no", Next: "look at the log of this process"}) {
			t.Errorf("it ran %d times, and is %+v, %+v", ran.Load(), s, s.Last)
		}
		if s := state(t, q, "x"); s.Tried != 1 || *s.Last != (jobs.Failure{Code: errs.Forbidden, Message: "never", Next: "ask"}) {
			t.Errorf("a final error was tried %d times and is %+v", s.Tried, s.Last)
		}
		if log, err := os.ReadFile(told.Name()); err != nil || strings.Count(string(log), `"a job failed, and is tried again" job=f err=no`) != 1 {
			t.Errorf("the log says %s, %v", log, err)
		}
		good = true
		must(t, q.Resume(t.Context(), "x"))
		until(t, "x is done", func() bool { return state(t, q, "x").State == jobs.Done })
	})
}

// A job whose steps took longer than its budget is no longer tried.
func TestBudget(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		q := opened(t, o)
		works(t, q, map[string]jobs.Handler{"slow": func(ctx context.Context, _ jobs.Job, tk jobs.Ticket) error {
			for n := range 1000 {
				if err := tk.Step(ctx, n, 1000, ""); err != nil {
					return err
				}
				time.Sleep(10 * time.Millisecond)
			}
			return nil
		}}, 1)
		must(t, q.Enqueue(t.Context(), jobs.Job{Key: "s", Group: "g", Kind: "slow", Most: 50 * time.Millisecond}))
		until(t, "its time is spent", func() bool { return state(t, q, "s").State == jobs.Failed })
		if s := state(t, q, "s"); s.Last == nil || s.Last.Code != errs.BudgetSpent || !strings.Contains(s.Last.Message, "may take 50ms") || s.Tried != 1 {
			t.Errorf("it ended as %+v", s)
		}
	})
}

// The time of a step is whole, however often it was told that it goes on; what workers were at a
// job is counted over all of them, also where no step of it came to an end.
func TestTimeIsCounted(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		q := opened(t, o)
		var tries atomic.Int64
		works(t, q, map[string]jobs.Handler{"slow": func(ctx context.Context, _ jobs.Job, tk jobs.Ticket) error {
			for _, done := range []int{0, 0, 0, 1, 1} {
				if err := tk.Step(ctx, done, 2, ""); err != nil {
					return err
				}
				time.Sleep(5 * time.Millisecond)
			}
			if tries.Add(1) == 1 {
				return errors.New("once more")
			}
			return nil
		}}, 1)
		must(t, q.Enqueue(t.Context(), jobs.Job{Key: "s", Group: "g", Kind: "slow", Tries: 2}))
		until(t, "the job is done and its time counted", func() bool {
			s := state(t, q, "s")
			return s.State == jobs.Done && s.Worked >= 50*time.Millisecond
		})
		s := state(t, q, "s")
		if p := s.Progress; p.Timed != 2 || p.Took < 30*time.Millisecond || s.Worked < p.Took {
			t.Errorf("two steps of 15 ms and more in two tries: %+v, worked %v", p, s.Worked)
		}
	})
}

const steps = 40

// deadly are steps in which a worker stays until one was killed there.
var deadly = []int{10, 25}

func survived(dir string, step int) string { return filepath.Join(dir, fmt.Sprint("survived-", step)) }

// Workers in processes of their own are killed one after another in the middle of a job; the next
// one finishes, every step took effect once, and no two workers were in one step.
func TestKilledWorkersJobIsFinished(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		o.Lease = short
		q, dir := opened(t, o), t.TempDir()
		must(t, q.Enqueue(t.Context(), jobs.Job{Key: "k", Group: "g", Kind: "files", Args: json.RawMessage(fmt.Sprintf("%q", dir)), Tries: 1}))
		two := []*exec.Cmd{process(t, o), process(t, o)}
		for _, at := range deadly {
			until(t, "the job goes on", func() bool {
				if s := state(t, q, "k"); s.State.Ended() {
					t.Fatalf("the job has ended after %d steps: %+v, %+v", done(t, dir), s, s.Last)
				}
				return done(t, dir) >= at
			})
			busy := holder(t, dir)
			for i, p := range two {
				if p.Process.Pid == busy {
					must(t, p.Process.Signal(syscall.SIGKILL))
					_ = p.Wait()
					two[i] = process(t, o)
				}
			}
			must(t, os.WriteFile(survived(dir, at), nil, 0o600))
		}
		until(t, "the job is done", func() bool { return state(t, q, "k").State == jobs.Done })
		for _, p := range two {
			must(t, p.Process.Signal(syscall.SIGTERM))
			must(t, p.Wait())
		}
		if done(t, dir) != steps {
			t.Errorf("%d of %d steps took effect", done(t, dir), steps)
		}
		if bad, err := filepath.Glob(filepath.Join(dir, "bad-*")); err != nil || len(bad) > 0 {
			t.Errorf("%v, %v", bad, err)
		}
		if s := state(t, q, "k"); s.Tried != 0 {
			t.Errorf("killed workers count as %d tries", s.Tried)
		}
	})
}

func done(t *testing.T, dir string) int {
	all, err := filepath.Glob(filepath.Join(dir, "step-*"))
	must(t, err)
	return len(all)
}

// holder is the process that is in the job.
func holder(t *testing.T, dir string) (pid int) {
	until(t, "somebody holds the job", func() bool {
		raw, err := os.ReadFile(filepath.Join(dir, "holder"))
		if err != nil {
			return false
		}
		_, err = fmt.Sscan(string(raw), &pid)
		return err == nil && syscall.Kill(pid, 0) == nil
	})
	return pid
}

func process(t *testing.T, o Options) *exec.Cmd {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"url": o.URL, "path": o.Path})
	must(t, err)
	p := exec.CommandContext(context.Background(), os.Args[0])
	p.Env, p.Stderr = append(os.Environ(), "JOBS_TEST_WORKER="+string(raw)), os.Stderr
	must(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

func worked(options string) error {
	var at map[string]string
	if err := json.Unmarshal([]byte(options), &at); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	q, err := Open(ctx, Options{URL: at["url"], Path: at["path"], Lease: short})
	if err != nil {
		return err
	}
	return first(q.Work(ctx, map[string]jobs.Handler{"files": files}, 2), q.Close())
}

// files is a handler whose steps are files: a step that is there is done. Whatever must not
// happen leaves a file that says so.
func files(ctx context.Context, j jobs.Job, tk jobs.Ticket) error {
	var dir string
	if err := json.Unmarshal(j.Args, &dir); err != nil {
		return err
	}
	turn, err := os.OpenFile(filepath.Join(dir, "turn"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer turn.Close()
	for n := range steps {
		if err := tk.Step(ctx, n, steps, ""); err != nil {
			return err
		}
		name := filepath.Join(dir, fmt.Sprintf("step-%03d", n))
		if _, err := os.Stat(name); err == nil {
			continue
		}
		if err := syscall.Flock(int(turn.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			return first(os.WriteFile(filepath.Join(dir, fmt.Sprintf("bad-overlap-%d", n)), nil, 0o600), err)
		}
		if err := os.WriteFile(filepath.Join(dir, "holder"), fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
			return err
		}
		for stay := true; stay; {
			time.Sleep(10 * time.Millisecond)
			_, err := os.Stat(survived(dir, n))
			if stay = err != nil && slices.Contains(deadly, n); stay && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return first(os.WriteFile(filepath.Join(dir, fmt.Sprintf("bad-twice-%d", n)), nil, 0o600), err)
		}
		if err := first(f.Close(), syscall.Flock(int(turn.Fd()), syscall.LOCK_UN)); err != nil {
			return err
		}
	}
	return tk.Step(ctx, steps, steps, "")
}
