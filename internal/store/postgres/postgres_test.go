package postgres

import (
	"context"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"macaron/internal/store/postgres/pgtest"
	"macaron/internal/store/storetest"
)

// The test binary runs itself as a process that talks until it is killed.
func TestMain(m *testing.M) {
	if url := os.Getenv("CRASH_TEST_URL"); url != "" {
		talk(url)
		return
	}
	goleak.VerifyTestMain(pgtest.Around(m))
}

var ctx = context.Background()

func TestConformance(t *testing.T) {
	urls := map[string]string{} // of directories
	storetest.Run(t, func(t *testing.T, dir string) storetest.Store {
		if urls[dir] == "" {
			urls[dir] = pgtest.Database(t)
		}
		return open(t, Options{URL: urls[dir]})
	})
}

func open(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestTheWorkIsHeldByOneClock: the process whose clock is years ahead takes nothing over from one
// that lives, and one whose clock is behind waits no longer than the rest.
func TestTheWorkIsHeldByOneClock(t *testing.T) {
	m := open(t, Options{URL: pgtest.Database(t)}).Mint()
	now := time.Now()
	for i, c := range []struct {
		who   string
		clock time.Duration
		long  time.Duration
		want  bool
	}{{"a", 0, time.Hour, true}, {"ahead", 1e5 * time.Hour, time.Hour, false}, {"a", 0, -time.Second, true}, {"behind", -1e5 * time.Hour, time.Hour, true}, {"a", 0, time.Hour, false}} {
		if got, err := m.Hold(ctx, now.Add(c.clock+c.long), now.Add(c.clock), c.who); err != nil || got != c.want {
			t.Errorf("%d: %s has it: %v %v", i, c.who, got, err)
		}
	}
}
