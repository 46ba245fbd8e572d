package retention

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"macaron/internal/record"
	"macaron/internal/store/sqlite"
)

// filled is a log in which tenants a and b have sessions of days 0 to 9 each.
func filled(t *testing.T) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "log.db"), Durability: sqlite.Normal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, owner := range []string{"a", "b"} {
		for d := range 10 {
			id := fmt.Sprintf("s%d", d)
			head := record.Head{ID: "rec_" + id, Owner: owner, Session: id, Time: on(d), Purpose: record.Production, Consent: record.ConsentNone}
			if err := s.Append(t.Context(), record.Batch{Records: []record.Record{{Head: head, Body: record.SessionOpened{Root: id}}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

func on(d int) time.Time { return time.Date(2026, 1, 1+d, 0, 0, 0, 0, time.UTC) }

func left(t *testing.T, s *sqlite.Store, owner string) int {
	t.Helper()
	all, err := s.Sessions(t.Context(), owner, time.Time{}, 99)
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func TestEachTenantIsKeptAsLongAsItsDays(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		p    Policy
		a, b int
	}{
		{Policy{}, 10, 10},
		{Policy{Keep: 3 * day}, 3, 3},
		{Policy{Keep: 3 * day, Tenants: map[string]time.Duration{"b": 0}}, 3, 10},
		{Policy{Tenants: map[string]time.Duration{"b": 5 * day}}, 10, 5},
	} {
		s := filled(t)
		n, err := Apply(t.Context(), s, c.p, on(10))
		if a, b := left(t, s, "a"), left(t, s, "b"); err != nil || a != c.a || b != c.b || n != 20-a-b {
			t.Errorf("%+v: %d went, %d and %d are left: %v", c.p, n, a, b, err)
		}
	}
}

func TestDeleteWhatIsNamed(t *testing.T) {
	for _, c := range []struct {
		w       What
		dry     bool
		n, a, b int
	}{
		{What{Owner: "a", Session: "s3"}, false, 1, 9, 10},
		{What{Owner: "a"}, false, 10, 0, 10},
		{What{Before: on(4)}, false, 8, 6, 6},
		{What{Owner: "b", Before: on(4)}, true, 4, 10, 10},
	} {
		s := filled(t)
		n := 0
		err := Delete(t.Context(), s, c.w, record.Erase{Time: on(11), DryRun: c.dry}, func(record.Erased) { n++ })
		if a, b := left(t, s, "a"), left(t, s, "b"); err != nil || n != c.n || a != c.a || b != c.b {
			t.Errorf("%+v: %d went, %d and %d are left: %v", c.w, n, a, b, err)
		}
	}
}
