package storetest

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/record"
)

// balances: each account is one, its changes are steps, and none is lost.
func balances(t *testing.T, s Store) {
	spend := func(owner, account string, n int64) (record.Balance, error) {
		return s.Settle(ctx, owner, account, func(b *record.Balance) {
			b.At, b.Day = at(int(n)), "2026-01-01"
			b.Requests += n
			b.Tokens += 2 * n
			b.OfDay.Add(record.Spent{Tokens: n, Cost: 1e15})
			b.OfMonth.Add(record.Spent{Tokens: 10 * n, Cost: 2})
		})
	}
	if _, err := spend("o", "key_1", 5); err != nil {
		t.Fatal(err)
	}
	got, err := spend("o", "key_1", 7)
	want := record.Balance{At: at(7), Requests: 12, Tokens: 24, Day: "2026-01-01", OfDay: record.Spent{Tokens: 12, Cost: 2e15}, OfMonth: record.Spent{Tokens: 120, Cost: 4}}
	if err != nil || cmp.Diff(want, got) != "" {
		t.Error(err, cmp.Diff(want, got))
	}
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for range 10 {
				if _, err := spend("o", "", 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	for name, c := range map[[2]string]int64{{"o", ""}: 80, {"o", "key_1"}: 12, {"p", "key_1"}: 0} {
		if got, err := s.Settle(ctx, name[0], name[1], func(*record.Balance) {}); err != nil || got.Requests != c {
			t.Errorf("%v has %+v, %v", name, got, err)
		}
	}
}
