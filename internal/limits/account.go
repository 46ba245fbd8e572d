package limits

import (
	"fmt"
	"math"
	"sync"
	"time"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// Ledger keeps the balance of one account where every process that serves it, now or later,
// finds it. Settle changes it as one step and gives what it is then; change may be called
// more than once.
type Ledger interface {
	Settle(change func(*record.Balance)) (record.Balance, error)
}

// Account counts against one quota. Minutes are buckets that refill steadily; a turn may take
// the tokens' bucket below zero, since what it costs is known only afterwards, and the next waits.
//
// The balance is the ledger's. Requests are taken out of it before they are served, a few at
// once where many are allowed, so that all processes together let no more through than the
// quota says. What turns have used is told to it soon after, and it is looked at again
// before a turn when that was longer ago than stale: turns that begin in other processes
// meanwhile may go beyond a bound, as those may that are under way.
type Account struct {
	mu      sync.Mutex
	name    string // for messages
	quota   Quota
	ledger  Ledger
	balance record.Balance // as it was last seen, with what is pending
	pending record.Spent   // not in the ledger yet
	held    int64          // requests that are taken out and not served yet
	seen    time.Time      // when the ledger was last asked; zero: never
	turns   int64
}

// stale is for how long a balance is taken to be that of the ledger.
const stale = time.Second

// held at once are the requests of this part of a minute.
const portion = 600

// NewAccount opens an account. Without a ledger it counts for itself, from nothing.
func NewAccount(name string, q Quota, l Ledger) *Account {
	return &Account{name: name, quota: q, ledger: l}
}

// SetQuota changes the bounds; what was used stays used.
func (a *Account) SetQuota(q Quota) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.quota = q
}

// Left is what an account may still take, for the headers of an answer.
type Left struct {
	Quota         Quota
	Requests      int64
	Tokens        int64
	ResetRequests time.Duration // until the bucket is full
	ResetTokens   time.Duration
}

// Request takes one request, or tells when there is one again.
func (a *Account) Request(now time.Time) (Left, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q, err := a.quota, error(nil)
	if q.Requests > 0 {
		if a.held == 0 {
			_ = a.settle(now, max(1, q.Requests/portion)) // Flush tells of a ledger that cannot be reached
		}
		if a.held > 0 {
			a.held--
		} else {
			err = a.refuse(fmt.Sprintf("%d requests a minute", q.Requests), until(million-(q.Requests*million-a.balance.Requests), q.Requests))
		}
	}
	b := a.balance
	refill(&b, now, q)
	return Left{
		Quota: q, Requests: max(q.Requests-(b.Requests+million-1)/million+a.held, 0), Tokens: max(q.Tokens-(b.Tokens+million-1)/million, 0),
		ResetRequests: until(b.Requests-a.held*million, q.Requests), ResetTokens: until(b.Tokens, q.Tokens),
	}, err
}

// Enter begins a turn: there is a place, and something left of each bound on tokens and
// money. leave must be called once.
func (a *Account) Enter(now time.Time) (leave func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if age := now.Sub(a.seen); a.quota.later() && (a.seen.IsZero() || age < 0 || age >= stale) {
		_ = a.settle(now, 0) // as above
	}
	refill(&a.balance, now, a.quota)
	a.balance.Roll(now)
	if err := a.over(now); err != nil {
		return nil, err
	}
	a.turns++
	return a.leave, nil
}

// over tells which bound is reached, if one is.
func (a *Account) over(now time.Time) error {
	q, b := a.quota, a.balance
	switch {
	case q.Turns > 0 && a.turns >= q.Turns:
		return a.refuse(fmt.Sprintf("%d turns at once", q.Turns), time.Second)
	case q.Tokens > 0 && b.Tokens >= q.Tokens*million:
		return a.refuse(fmt.Sprintf("%d tokens a minute", q.Tokens), until(million-(q.Tokens*million-b.Tokens), q.Tokens))
	case q.DayTokens > 0 && b.OfDay.Tokens >= q.DayTokens:
		return a.refuse(fmt.Sprintf("%d tokens a day", q.DayTokens), nextDay(now).Sub(now))
	case q.MonthTokens > 0 && b.OfMonth.Tokens >= q.MonthTokens:
		return a.refuse(fmt.Sprintf("%d tokens a month", q.MonthTokens), nextMonth(now).Sub(now))
	case q.DayCost > 0 && b.OfDay.Cost >= q.DayCost:
		return a.spent(fmt.Sprintf("%s USD a day and has spent %s", q.DayCost, b.OfDay.Cost), nextDay(now), now)
	case q.MonthCost > 0 && b.OfMonth.Cost >= q.MonthCost:
		return a.spent(fmt.Sprintf("%s USD a month and has spent %s", q.MonthCost, b.OfMonth.Cost), nextMonth(now), now)
	}
	return nil
}

func (a *Account) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns--
}

// Spend counts what a model call has used. Flush tells the ledger.
func (a *Account) Spend(now time.Time, s record.Spent) {
	a.mu.Lock()
	defer a.mu.Unlock()
	refill(&a.balance, now, a.quota)
	a.balance.Roll(now)
	take(&a.balance, s, a.quota)
	a.pending.Add(s)
}

// Flush tells the ledger what was spent since the last time; at the end also what requests
// were taken out and not served.
func (a *Account) Flush(now time.Time, end bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if end && a.held > 0 {
		return a.settle(now, -a.held)
	}
	if a.pending == (record.Spent{}) {
		return nil
	}
	return a.settle(now, 0)
}

// Balance tells what was used.
func (a *Account) Balance() record.Balance {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.balance
}

// settle puts what is pending into the ledger, takes out so many requests, if there are
// (fewer than none: gives them back), and sees what others have used. When the ledger cannot
// be reached, what was last seen counts, and what is pending stays so.
func (a *Account) settle(now time.Time, requests int64) error {
	granted := int64(0)
	change := func(b *record.Balance) {
		refill(b, now, a.quota)
		b.Roll(now)
		if a.ledger != nil {
			take(b, a.pending, a.quota)
		}
		granted = min(requests, max(a.quota.Requests-(b.Requests+million-1)/million, 0))
		b.Requests = max(b.Requests+granted*million, 0)
	}
	if a.ledger == nil {
		change(&a.balance)
	} else {
		b, err := a.ledger.Settle(change)
		if err != nil {
			a.alone(now, requests)
			return err
		}
		a.balance, a.seen = b, now
	}
	a.pending = record.Spent{}
	a.held += granted
	return nil
}

// alone takes requests out of what was last seen.
func (a *Account) alone(now time.Time, requests int64) {
	refill(&a.balance, now, a.quota)
	granted := min(requests, max(a.quota.Requests-(a.balance.Requests+million-1)/million, 0))
	a.balance.Requests = max(a.balance.Requests+granted*million, 0)
	a.held += granted
}

func (a *Account) refuse(what string, wait time.Duration) error {
	e := errs.New(errs.RateLimited, a.name+" may take "+what+" and has taken them", "try again later, or ask the operator for more")
	e.RetryAfter = max(wait.Round(time.Millisecond), time.Second)
	return e
}

func (a *Account) spent(what string, reset, now time.Time) error {
	e := errs.New(errs.BudgetSpent, a.name+" may spend "+what, "wait until "+reset.Format(time.RFC3339)+", or ask the operator for more")
	e.RetryAfter = max(reset.Sub(now).Round(time.Millisecond), time.Second)
	return e
}

// million are the parts in which a balance counts requests and tokens a minute.
const million = 1_000_000

// refill gives the buckets what came in since they were last looked at.
func refill(b *record.Balance, now time.Time, q Quota) {
	if !now.After(b.At) {
		return
	}
	if since := now.Sub(b.At).Minutes(); !b.At.IsZero() {
		b.Requests = lower(b.Requests, q.Requests, since)
		b.Tokens = lower(b.Tokens, q.Tokens, since)
	}
	b.At = now
}

func lower(taken, size int64, minutes float64) int64 {
	return int64(math.Round(max(float64(taken)-float64(size)*million*minutes, 0)))
}

func take(b *record.Balance, s record.Spent, q Quota) {
	if q.Tokens > 0 {
		b.Tokens += s.Tokens * million
	}
	b.OfDay.Add(s)
	b.OfMonth.Add(s)
}

// until is the time until so many parts have come in.
func until(parts, size int64) time.Duration {
	if size == 0 || parts <= 0 {
		return 0
	}
	return time.Duration(float64(parts) / million / float64(size) * float64(time.Minute))
}
