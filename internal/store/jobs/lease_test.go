package jobs

import (
	"context"
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"macaron/internal/jobs"
	"macaron/internal/store/postgres/pgtest"
)

// A worker that loses its lease is told so, and what it held is another's.
func TestLostLease(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		q := opened(t, o)
		j := jobs.Job{Key: "k", Group: "g", Kind: "none"}
		l, err := q.take(t.Context(), j)
		must(t, err)
		if _, err := q.take(t.Context(), j); !errors.Is(err, jobs.ErrLost) {
			t.Fatalf("two workers hold a job: %v", err)
		}
		must(t, q.exec(t.Context(), `UPDATE jobs_leases SET until = 1`))
		if err := l.Step(t.Context(), 1, 2, ""); !errors.Is(err, jobs.ErrLost) {
			t.Errorf("a worker whose time is over goes on: %v", err)
		}
		second, err := q.take(t.Context(), j)
		must(t, err)
		l.free(t.Context(), false) // must not give the other's away
		must(t, second.Step(t.Context(), 1, 2, ""))
	})
}

// A database that is too slow to give a lease fails no try, whatever it says in the end: the lease is
// lost, and the job goes on elsewhere.
func TestLateLeaseIsLost(t *testing.T) {
	o := Options{URL: pgtest.Database(t), Lease: short}
	staller, hung := stalls(t, o.URL)
	q := opened(t, Options{URL: hung, Lease: o.Lease})
	staller.hang(true)
	_, err := q.take(t.Context(), jobs.Job{Key: "k", Group: "g", Kind: "none"})
	staller.hang(false)
	if !errors.Is(err, jobs.ErrLost) {
		t.Errorf("no answer gives %v", err)
	}
}

// What is free may be taken at once, and is no dead worker's before its lease would have ended: River
// has not written yet how the job ended. Nor is a job that was just handed out, whatever an earlier
// worker left.
func TestFreeIsNotDead(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		o.Lease = time.Hour
		q := opened(t, o)
		j := jobs.Job{Key: "k", Group: "g", Kind: "none"}
		is := func(what string, want bool, at time.Time) {
			t.Helper()
			if dead, err := q.dead(t.Context(), "k", at); err != nil || dead != want {
				t.Errorf("%s: dead %v, %v", what, dead, err)
			}
		}
		long := time.Now().Add(-5 * time.Hour)
		must(t, q.Enqueue(t.Context(), j))
		is("nobody took it", true, long)
		isWorked(t, q, false)
		for _, what := range []string{"held", "held again"} {
			l, err := q.take(t.Context(), j)
			must(t, err)
			is(what, false, long)
			l.free(t.Context(), false)
			is("free", false, long)
			isWorked(t, q, true)
			if free, err := q.free(t.Context(), "k"); err != nil || !free {
				t.Errorf("what was given back is free %v, %v", free, err)
			}
		}
		must(t, q.exec(t.Context(), `UPDATE jobs_leases SET until = 1, holder = 'dead'`))
		is("its lease is over", true, long)
		isWorked(t, q, false)
		is("handed out anew", false, time.Now())
	})
}

func isWorked(t *testing.T, q *Queue, want bool) {
	t.Helper()
	if is, err := q.Worked(t.Context(), "g"); err != nil || is != want {
		t.Errorf("a worker is at the group: %v, %v", is, err)
	}
}

// A worker whose connections hang, neither answering nor breaking, stops before another one begins. When
// they go on, it does not tell River anything of the job that the other one has.
func TestHungConnection(t *testing.T) {
	o := Options{URL: pgtest.Database(t), Lease: 8 * time.Second}
	staller, hung := stalls(t, o.URL)
	one, two := opened(t, Options{URL: hung, Lease: o.Lease}), opened(t, o)
	var in, begun, done, overlaps atomic.Int64
	release := make(chan struct{})
	handler := map[string]jobs.Handler{"long": func(ctx context.Context, _ jobs.Job, _ jobs.Ticket) error {
		if in.Add(1) > 1 {
			overlaps.Add(1)
		}
		defer in.Add(-1)
		begun.Add(1)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-release:
			done.Add(1)
			return nil
		}
	}}
	works(t, one, handler, 1)
	must(t, two.Enqueue(t.Context(), jobs.Job{Key: "k", Group: "g", Kind: "long"}))
	until(t, "the first has it", func() bool { return begun.Load() == 1 })
	works(t, two, handler, 1)
	staller.hang(true)
	until(t, "the second has it", func() bool { return begun.Load() == 2 })
	staller.hang(false)
	time.Sleep(2 * again) // the first finds its lease lost, and has time to do harm
	if s := state(t, two, "k"); s.State != jobs.Running {
		t.Errorf("the second works on it, and it is %+v", s)
	}
	close(release)
	until(t, "it is done", func() bool { return state(t, two, "k").State == jobs.Done })
	if s := state(t, two, "k"); overlaps.Load() != 0 || done.Load() != 1 || s.Tried != 0 {
		t.Errorf("%d overlaps, done %d times, %+v", overlaps.Load(), done.Load(), s)
	}
}

// staller stands between a queue and the real server and, while it hangs, carries nothing.
type staller struct {
	mu     sync.Mutex
	flows  *sync.Cond
	hangs  bool
	to     string
	closed sync.WaitGroup
}

func stalls(t *testing.T, database string) (*staller, string) {
	t.Helper()
	u, err := url.Parse(database)
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := &staller{to: filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")}
	s.flows = sync.NewCond(&s.mu)
	s.closed.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", s.to)
			if err != nil {
				t.Error(err)
				return
			}
			s.closed.Go(func() { s.carry(client, server) })
			s.closed.Go(func() { s.carry(server, client) })
		}
	})
	t.Cleanup(func() { l.Close(); s.hang(false); s.closed.Wait() })
	return s, (&url.URL{Scheme: "postgres", User: u.User, Host: l.Addr().String(), Path: u.Path, RawQuery: "sslmode=disable"}).String()
}

func (s *staller) hang(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = yes
	s.flows.Broadcast()
}

// carry is one direction; its end is that of the other one.
func (s *staller) carry(from, to net.Conn) {
	defer to.Close()
	defer from.Close()
	for buf := make([]byte, 64<<10); ; {
		n, err := from.Read(buf)
		s.mu.Lock()
		for s.hangs {
			s.flows.Wait()
		}
		s.mu.Unlock()
		if _, failed := to.Write(buf[:n]); err != nil || failed != nil {
			return
		}
	}
}

// River writes how a job ended later, and by its number alone. Where that is lost and the job is handed
// out once more, what its handler has done is not done again, also by another worker.
func TestWhatIsDoneIsNotDoneAgain(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		q := opened(t, o)
		var done atomic.Int64
		handler := map[string]jobs.Handler{"once": func(context.Context, jobs.Job, jobs.Ticket) error { done.Add(1); return nil }}
		must(t, q.Enqueue(t.Context(), jobs.Job{Key: "k", Group: "g", Kind: "once"}))
		for range 3 {
			end := works(t, q, handler, 1)
			until(t, "it is done", func() bool { return state(t, q, "k").State == jobs.Done })
			end()
			must(t, q.exec(t.Context(), `UPDATE jobs_leases SET until = 0`)) // much later
			all, err := q.find(t.Context(), `k.key = $1`, "k")
			must(t, err)
			_, err = q.put.JobRetry(t.Context(), all[0].id)
			must(t, err)
			if s := state(t, q, "k"); s.State != jobs.Waiting {
				t.Fatalf("it is %s, and was handed out again", s.State)
			}
		}
		if n := done.Load(); n != 1 {
			t.Errorf("its handler was called %d times", n)
		}
	})
}
