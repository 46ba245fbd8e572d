package limits

import (
	"fmt"
	"sync"
	"time"

	"macaron/internal/errs"
)

// Quota bounds what one key, or all keys of a tenant together, may take. 0 is no bound.
type Quota struct {
	Requests    int64 `toml:"rpm,omitempty" json:"rpm,omitempty"`                           // a minute
	Tokens      int64 `toml:"tpm,omitempty" json:"tpm,omitempty"`                           // a minute, of prompts and answers
	Turns       int64 `toml:"turns,omitempty" json:"turns,omitempty"`                       // at once
	DayTokens   int64 `toml:"tokens_per_day,omitempty" json:"tokens_per_day,omitempty"`     // a calendar day, UTC
	MonthTokens int64 `toml:"tokens_per_month,omitempty" json:"tokens_per_month,omitempty"` // a calendar month, UTC
}

// QuotaMost is the largest bound that a quota can name.
const QuotaMost = 1 << 50

// Check refuses bounds that are no bounds.
func (q Quota) Check() error {
	for name, n := range map[string]int64{"rpm": q.Requests, "tpm": q.Tokens, "turns": q.Turns, "tokens_per_day": q.DayTokens, "tokens_per_month": q.MonthTokens} {
		if n < 0 || n > QuotaMost {
			return errs.New(errs.InvalidRequest, fmt.Sprintf("%s is %d, but must be from 0 to %d", name, n, int64(QuotaMost)), "0 is no bound").In(name)
		}
	}
	return nil
}

// Spent is what an account has used of its budgets, with the day and month that it was in.
type Spent struct {
	Day         string `json:"day"` // 2006-01-02
	DayTokens   int64  `json:"day_tokens"`
	MonthTokens int64  `json:"month_tokens"`
}

// Account counts against one quota. Minutes are buckets that refill steadily; a turn may take
// the tokens' bucket below zero, since what it costs is known only afterwards, and the next waits.
type Account struct {
	mu       sync.Mutex
	name     string // for messages
	quota    Quota
	requests bucket
	tokens   bucket
	turns    int64
	spent    Spent
}

// NewAccount opens an account with full buckets.
func NewAccount(name string, q Quota, spent Spent) *Account {
	a := &Account{name: name, spent: spent}
	a.SetQuota(q)
	return a
}

// SetQuota changes the bounds; what was used stays used.
func (a *Account) SetQuota(q Quota) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.quota = q
	a.requests.resize(q.Requests)
	a.tokens.resize(q.Tokens)
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
	a.requests.refill(now)
	a.tokens.refill(now)
	var err error
	if a.quota.Requests > 0 {
		if a.requests.level < 1 {
			err = a.refuse(fmt.Sprintf("%d requests a minute", a.quota.Requests), a.requests.until(1))
		} else {
			a.requests.level--
		}
	}
	return Left{
		Quota: a.quota, Requests: int64(a.requests.level), Tokens: max(int64(a.tokens.level), 0),
		ResetRequests: a.requests.until(a.requests.size), ResetTokens: a.tokens.until(a.tokens.size),
	}, err
}

// Enter begins a turn: there is a place, and something left of each bound on tokens. leave must
// be called once.
func (a *Account) Enter(now time.Time) (leave func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tokens.refill(now)
	a.roll(now)
	q := a.quota
	switch {
	case q.Turns > 0 && a.turns >= q.Turns:
		return nil, a.refuse(fmt.Sprintf("%d turns at once", q.Turns), time.Second)
	case q.Tokens > 0 && a.tokens.level <= 0:
		return nil, a.refuse(fmt.Sprintf("%d tokens a minute", q.Tokens), a.tokens.until(1))
	case q.DayTokens > 0 && a.spent.DayTokens >= q.DayTokens:
		return nil, a.refuse(fmt.Sprintf("%d tokens a day", q.DayTokens), nextDay(now).Sub(now))
	case q.MonthTokens > 0 && a.spent.MonthTokens >= q.MonthTokens:
		return nil, a.refuse(fmt.Sprintf("%d tokens a month", q.MonthTokens), nextMonth(now).Sub(now))
	}
	a.turns++
	return a.leave, nil
}

func (a *Account) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns--
}

// Spend counts tokens that were used.
func (a *Account) Spend(now time.Time, tokens int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tokens.refill(now)
	a.roll(now)
	if a.quota.Tokens > 0 {
		a.tokens.level -= float64(tokens)
	}
	a.spent.DayTokens += tokens
	a.spent.MonthTokens += tokens
}

// Spent tells what was used of the budgets.
func (a *Account) Spent() Spent {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.spent
}

// roll begins a new day or month.
func (a *Account) roll(now time.Time) {
	day := now.UTC().Format(time.DateOnly)
	if day == a.spent.Day {
		return
	}
	const month = len("2006-01")
	if len(a.spent.Day) < month || a.spent.Day[:month] != day[:month] {
		a.spent.MonthTokens = 0
	}
	a.spent.Day, a.spent.DayTokens = day, 0
}

func (a *Account) refuse(what string, wait time.Duration) error {
	e := errs.New(errs.RateLimited, a.name+" may take "+what+" and has taken them", "try again later, or ask the operator for more")
	e.RetryAfter = max(wait.Round(time.Millisecond), time.Second)
	return e
}

func nextDay(now time.Time) time.Time {
	y, m, d := now.UTC().Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
}

func nextMonth(now time.Time) time.Time {
	y, m, _ := now.UTC().Date()
	return time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
}

// bucket holds at most size and gets size a minute.
type bucket struct {
	size, level float64
	at          time.Time
}

// resize keeps what was taken out; a bucket without a size stays full of nothing.
func (b *bucket) resize(size int64) {
	b.level += float64(size) - b.size
	b.size = float64(size)
}

func (b *bucket) refill(now time.Time) {
	if now.After(b.at) {
		if !b.at.IsZero() {
			b.level = min(b.size, b.level+b.size*now.Sub(b.at).Minutes())
		}
		b.at = now
	}
}

// until is the time until the level is at least want.
func (b *bucket) until(want float64) time.Duration {
	if b.size == 0 || b.level >= want {
		return 0
	}
	return time.Duration((want - b.level) / b.size * float64(time.Minute))
}
