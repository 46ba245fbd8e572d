package record

import (
	"time"

	"macaron/internal/money"
)

// Balance is what an account, a key's or a tenant's, has used: of the steady bounds a
// minute what is taken out and has not refilled yet, and of budgets the sum of its day and
// month (UTC).
type Balance struct {
	At       time.Time // up to when Requests and Tokens have refilled
	Requests int64     // taken out, in millionths of a request
	Tokens   int64     // the same of tokens
	Day      string    // 2006-01-02
	OfDay    Spent
	OfMonth  Spent
}

// Spent is what a span of time has cost.
type Spent struct {
	Tokens int64
	Cost   money.USD
}

// Add counts another spending in.
func (s *Spent) Add(o Spent) {
	s.Tokens += o.Tokens
	s.Cost += o.Cost
}

// Roll begins a new day or month. A clock that goes back begins nothing.
func (b *Balance) Roll(now time.Time) {
	day := now.UTC().Format(time.DateOnly)
	if day <= b.Day {
		return
	}
	const month = len("2006-01")
	if len(b.Day) < month || b.Day[:month] != day[:month] {
		b.OfMonth = Spent{}
	}
	b.Day, b.OfDay = day, Spent{}
}
