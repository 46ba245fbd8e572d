package limits

import (
	"testing"
	"time"

	"macaron/internal/errs"
)

var noon = time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)

func wait(t *testing.T, err error, want time.Duration) {
	t.Helper()
	if errs.CodeOf(err) != errs.RateLimited || errs.As(err).RetryAfter != want {
		t.Errorf("got %v after %v, want %v", err, errs.As(err), want)
	}
}

func TestRequestsRefillSteadily(t *testing.T) {
	a := NewAccount("this key", Quota{Requests: 6}, Spent{})
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
	a := NewAccount("this key", Quota{Tokens: 60}, Spent{})
	leave, err := a.Enter(noon)
	if err != nil {
		t.Fatal(err)
	}
	leave()
	a.Spend(noon, 90)
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
	a := NewAccount("this key", Quota{Turns: 1}, Spent{})
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
	a := NewAccount("this key", Quota{DayTokens: 100, MonthTokens: 150}, Spent{})
	a.Spend(noon, 100)
	_, err := a.Enter(noon)
	wait(t, err, 12*time.Hour)
	next := noon.Add(12 * time.Hour) // 1 March
	if _, err := a.Enter(next); err != nil {
		t.Error(err)
	}
	a.Spend(next, 60)
	a.Spend(next.AddDate(0, 0, 1), 90)
	_, err = a.Enter(next.AddDate(0, 0, 1))
	wait(t, err, 30*24*time.Hour)
	if s := a.Spent(); s != (Spent{Day: "2026-03-02", DayTokens: 90, MonthTokens: 150}) {
		t.Errorf("%+v", s)
	}
}

func TestAChangedQuotaKeepsWhatWasUsed(t *testing.T) {
	a := NewAccount("this key", Quota{Requests: 2}, Spent{})
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
