package auth

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/record"
)

// memory is a ledger that outlives keyrings.
type memory struct {
	mu  sync.Mutex
	all map[[2]string]record.Balance
	err error
}

func (m *memory) Settle(_ context.Context, owner, account string, change func(*record.Balance)) (record.Balance, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return record.Balance{}, m.err
	}
	b := m.all[[2]string{owner, account}]
	change(&b)
	m.all[[2]string{owner, account}] = b
	return b, nil
}

func TestBudgetsOutliveTheProcess(t *testing.T) {
	r := newRig(t)
	_, secret := r.key(Key{Limits: limits.Quota{DayTokens: 100}})
	ledger := &memory{all: map[[2]string]record.Balance{}}
	var rings [2]*Keyring
	var who [2]Principal
	for i := range rings {
		var err error
		if rings[i], err = NewKeyring(t.Context(), OpenFile(r.home), r.clock, ledger, func(error) {}); err != nil {
			t.Fatal(err)
		}
		if who[i], err = rings[i].Authenticate(t.Context(), bearer(secret)); err != nil {
			t.Fatal(err)
		}
	}
	ledger.err = errors.New("away")
	who[0].Spend(r.clock.Now(), record.Spent{Tokens: 100})
	if err := rings[0].Flush(r.clock.Now(), false); err == nil {
		t.Error("a ledger that is away is not told of")
	}
	if _, err := who[0].Enter(r.clock.Now()); errs.CodeOf(err) != errs.RateLimited {
		t.Errorf("without the ledger it does not count for itself: %v", err)
	}
	ledger.err = nil
	if err := rings[0].Flush(r.clock.Now(), false); err != nil {
		t.Fatal(err)
	}
	p := who[1] // of a process that has spent nothing
	if _, err := p.Enter(r.clock.Now()); errs.CodeOf(err) != errs.RateLimited || errs.As(err).RetryAfter != 12*time.Hour {
		t.Errorf("got %v", err)
	}
	if leave, err := p.Enter(r.clock.Now().Add(12 * time.Hour)); err != nil {
		t.Errorf("on the next day: %v", err)
	} else {
		leave()
	}
}
