package postgres

import (
	"context"
	"os"
	"testing"

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
