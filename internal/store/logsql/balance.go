package logsql

import (
	"context"
	"time"

	"macaron/internal/money"
	"macaron/internal/record"
)

// Settle changes the balance of an owner's account in an open transaction that nobody else
// changes it in, and gives what it is then. One that is not there is empty.
func Settle(ctx context.Context, db Writer, owner, account string, change func(*record.Balance)) (b record.Balance, err error) {
	var at, dayCost, monthCost int64
	err = db.Query(ctx, func(r Row) error {
		return r.Scan(&at, &b.Requests, &b.Tokens, &b.Day, &b.OfDay.Tokens, &dayCost, &b.OfMonth.Tokens, &monthCost)
	}, `SELECT at, requests, tokens, day, day_tokens, day_cost, month_tokens, month_cost FROM accounts WHERE owner = $1 AND account = $2`, owner, account)
	if err != nil {
		return b, err
	}
	if at != 0 {
		b.At = time.Unix(0, at).UTC()
	}
	b.OfDay.Cost, b.OfMonth.Cost = money.USD(dayCost), money.USD(monthCost)
	change(&b)
	err = run(ctx, db, `INSERT INTO accounts (owner, account, at, requests, tokens, day, day_tokens, day_cost, month_tokens, month_cost)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (owner, account) DO UPDATE SET at = excluded.at, requests = excluded.requests, tokens = excluded.tokens, day = excluded.day,
			day_tokens = excluded.day_tokens, day_cost = excluded.day_cost, month_tokens = excluded.month_tokens, month_cost = excluded.month_cost`,
		owner, account, b.At.UnixNano(), b.Requests, b.Tokens, b.Day, b.OfDay.Tokens, int64(b.OfDay.Cost), b.OfMonth.Tokens, int64(b.OfMonth.Cost))
	return b, err
}
