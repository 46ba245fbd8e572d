package limits

import (
	"fmt"
	"time"

	"macaron/internal/errs"
	"macaron/internal/money"
)

// Quota bounds what one key, or all keys of a tenant together, may take. 0 is no bound.
type Quota struct {
	Requests    int64     `toml:"rpm,omitempty" json:"rpm,omitempty"`                           // a minute
	Tokens      int64     `toml:"tpm,omitempty" json:"tpm,omitempty"`                           // a minute, of prompts and answers
	Turns       int64     `toml:"turns,omitempty" json:"turns,omitempty"`                       // at once, in each process
	DayTokens   int64     `toml:"tokens_per_day,omitempty" json:"tokens_per_day,omitempty"`     // a calendar day, UTC
	MonthTokens int64     `toml:"tokens_per_month,omitempty" json:"tokens_per_month,omitempty"` // a calendar month, UTC
	DayCost     money.USD `toml:"usd_per_day,omitempty" json:"usd_per_day,omitempty"`           // by the price table
	MonthCost   money.USD `toml:"usd_per_month,omitempty" json:"usd_per_month,omitempty"`
}

// QuotaMost is the largest bound that a quota can name, of what is no money.
const QuotaMost = 1 << 40

// Check refuses bounds that are no bounds.
func (q Quota) Check() error {
	for name, n := range map[string]int64{"rpm": q.Requests, "tpm": q.Tokens, "turns": q.Turns, "tokens_per_day": q.DayTokens, "tokens_per_month": q.MonthTokens} {
		if n < 0 || n > QuotaMost {
			return errs.New(errs.InvalidRequest, fmt.Sprintf("%s is %d, but must be from 0 to %d", name, n, int64(QuotaMost)), "0 is no bound").In(name)
		}
	}
	for name, n := range map[string]money.USD{"usd_per_day": q.DayCost, "usd_per_month": q.MonthCost} {
		if n < 0 || n > money.Most {
			return errs.New(errs.InvalidRequest, fmt.Sprintf("%s is %s, but must be from 0 to %s", name, n, money.Most), "0 is no bound").In(name)
		}
	}
	return nil
}

// later reports whether a quota bounds what is known only when a turn is over.
func (q Quota) later() bool {
	return q.Tokens > 0 || q.DayTokens > 0 || q.MonthTokens > 0 || q.DayCost > 0 || q.MonthCost > 0
}

func nextDay(now time.Time) time.Time {
	y, m, d := now.UTC().Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
}

func nextMonth(now time.Time) time.Time {
	y, m, _ := now.UTC().Date()
	return time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
}
