package limits

import (
	"testing"
	"time"

	"macaron/internal/errs"
	"macaron/internal/record"
)

var noon = time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)

func wait(t *testing.T, err error, want time.Duration) {
	t.Helper()
	if errs.CodeOf(err) != errs.RateLimited || errs.As(err).RetryAfter != want {
		t.Errorf("got %v after %v, want %v", err, errs.As(err), want)
	}
}

func TestRequestsRefillSteadily(t *testing.T) {
	a := NewAccount("this key", Quota{Requests: 6}, nil)
	for i := range 6 {
		left, err := a.Request(noon)
		if err != nil || left.Requests != int64(5-i) || left.ResetRequests != time.Duration(i+1)*10*time.Second {
			t.Errorf("%d: %+v %v", i, left, err)
		}
	}
	_, err := a.Request(noon)
	wait(t, err, 10*time.Second)
	_, err = a.Request(noon.Add(4 * time.Second))
	wait(t, err, 6*time.Second)
	if _, err := a.Request(noon.Add(10 * time.Second)); err != nil {
		t.Error(err)
	}
	if left, err := a.Request(noon.Add(time.Hour)); err != nil || left.Requests != 5 {
		t.Errorf("more than full: %+v %v", left, err)
	}
	if _, err := a.Request(noon); err != nil { // a clock that went back gives nothing and takes nothing away
		t.Error(err)
	}
}

func TestTokensGoIntoDebt(t *testing.T) {
	a := NewAccount("this key", Quota{Tokens: 60}, nil)
	leave, err := a.Enter(noon)
	if err != nil {
		t.Fatal(err)
	}
	leave()
	a.Spend(noon, record.Spent{Tokens: 90})
	_, err = a.Enter(noon)
	wait(t, err, 31*time.Second)
	if left, err := a.Request(noon); err != nil || left.Tokens != 0 || left.ResetTokens != 90*time.Second {
		t.Errorf("%+v %v", left, err)
	}
	if _, err := a.Enter(noon.Add(31 * time.Second)); err != nil {
		t.Error(err)
	}
}

func TestTurnsAtOnce(t *testing.T) {
	a := NewAccount("this key", Quota{Turns: 1}, nil)
	leave, err := a.Enter(noon)
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Enter(noon)
	wait(t, err, time.Second)
	leave()
	if _, err := a.Enter(noon); err != nil {
		t.Error(err)
	}
}

func TestBudgetsOfDayAndMonth(t *testing.T) {
	a := NewAccount("this key", Quota{DayTokens: 100, MonthTokens: 150}, nil)
	a.Spend(noon, record.Spent{Tokens: 100})
	_, err := a.Enter(noon)
	wait(t, err, 12*time.Hour)
	next := noon.Add(12 * time.Hour) // 1 March
	if _, err := a.Enter(next); err != nil {
		t.Error(err)
	}
	a.Spend(next, record.Spent{Tokens: 60})
	a.Spend(next.AddDate(0, 0, 1), record.Spent{Tokens: 90})
	_, err = a.Enter(next.AddDate(0, 0, 1))
	wait(t, err, 30*24*time.Hour)
	if b := a.Balance(); b.Day != "2026-03-02" || b.OfDay.Tokens != 90 || b.OfMonth.Tokens != 150 {
		t.Errorf("%+v", b)
	}
}

func TestAChangedQuotaKeepsWhatWasUsed(t *testing.T) {
	a := NewAccount("this key", Quota{Requests: 2}, nil)
	for range 2 {
		if _, err := a.Request(noon); err != nil {
			t.Fatal(err)
		}
	}
	a.SetQuota(Quota{Requests: 3})
	if _, err := a.Request(noon); err != nil {
		t.Error(err)
	}
	if _, err := a.Request(noon); err == nil {
		t.Error("a fourth one passed")
	}
	a.SetQuota(Quota{})
	for range 100 {
		if _, err := a.Request(noon); err != nil {
			t.Fatal(err)
		}
	}
}

func TestQuotasAreBounded(t *testing.T) {
	for _, q := range []Quota{{Requests: -1}, {Tokens: QuotaMost + 1}, {Turns: -1}, {DayTokens: -1}, {MonthTokens: -5}} {
		if q.Check() == nil {
			t.Errorf("%+v passed", q)
		}
	}
}

// shelf is a ledger of one account.
type shelf struct {
	balance record.Balance
	asked   int
}

func (s *shelf) Settle(change func(*record.Balance)) (record.Balance, error) {
	s.asked++
	again := s.balance
	change(&again) // a try that does not count
	change(&s.balance)
	return s.balance, nil
}

// Accounts of several processes let no more requests through together than one would.
func TestProcessesShareTheRequests(t *testing.T) {
	for _, rpm := range []int64{2, 60, 6000} {
		ledger := &shelf{}
		var all []*Account
		for range 3 {
			all = append(all, NewAccount("this key", Quota{Requests: rpm}, ledger))
		}
		served := int64(0)
		for i := range int(2 * rpm) {
			if _, err := all[i%3].Request(noon); err == nil {
				served++
			}
		}
		if served > rpm || served < rpm-3*(rpm/portion) {
			t.Errorf("%d a minute: %d were served", rpm, served)
		}
		for _, a := range all {
			if err := a.Flush(noon, true); err != nil {
				t.Fatal(err)
			}
		}
		if ledger.balance.Requests != served*million {
			t.Errorf("%d a minute: %d are taken out, and %d were served", rpm, ledger.balance.Requests, served)
		}
	}
}

// What one process has spent bounds the other within the time that a balance is believed.
func TestProcessesShareTheBudget(t *testing.T) {
	ledger := &shelf{}
	q := Quota{DayCost: 5e8, MonthTokens: 1000}
	one, two := NewAccount("this key", q, ledger), NewAccount("this key", q, ledger)
	for _, a := range []*Account{one, two} {
		leave, err := a.Enter(noon)
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	one.Spend(noon, record.Spent{Tokens: 10, Cost: 5e8})
	if err := one.Flush(noon, false); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Enter(noon); errs.CodeOf(err) != errs.BudgetSpent || errs.As(err).RetryAfter != 12*time.Hour {
		t.Errorf("got %v", err)
	}
	asked := ledger.asked
	if _, err := two.Enter(noon.Add(stale - 1)); err != nil || ledger.asked != asked {
		t.Errorf("asked %d times, %v", ledger.asked-asked, err)
	}
	if _, err := two.Enter(noon.Add(stale)); errs.CodeOf(err) != errs.BudgetSpent {
		t.Errorf("got %v", err)
	}
	next := noon.Add(12 * time.Hour) // 1 March: a new day and a new month
	if _, err := two.Enter(next); err != nil {
		t.Error(err)
	}
	two.Spend(next, record.Spent{Tokens: 1000})
	if err := two.Flush(next, false); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Enter(next.Add(24 * time.Hour)); errs.CodeOf(err) != errs.RateLimited {
		t.Errorf("got %v", err)
	}
	if _, err := one.Enter(next.Add(31 * 24 * time.Hour)); err != nil {
		t.Error(err)
	}
}
