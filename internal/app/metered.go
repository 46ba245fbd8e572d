package app

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"macaron/internal/auth"
	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/contract"
	"macaron/internal/money"
	"macaron/internal/record"
	"macaron/internal/turn"
)

// gate lets a key and its tenant have so many turns, and no more tokens than they may.
type gate struct {
	*turn.Runner // counting tokens costs a request alone
	clock        clock.Clock
}

// Run serves a turn.
func (g gate) Run(ctx context.Context, q turn.Request, out turn.Sink) error {
	leave, err := auth.Of(ctx).Enter(g.clock.Now())
	if err != nil {
		return err
	}
	defer leave()
	return g.Runner.Run(ctx, q, out)
}

// Route decides who would take a request.
func (g gate) Route(ctx context.Context, owner, user, text string, previous *contract.Previous) (turn.Report, error) {
	leave, err := auth.Of(ctx).Enter(g.clock.Now())
	if err != nil {
		return turn.Report{}, err
	}
	defer leave()
	return g.Runner.Route(ctx, owner, user, text, previous)
}

// Dry decides who would take a request, in its conversation.
func (g gate) Dry(ctx context.Context, q turn.Request) (turn.Report, error) {
	leave, err := auth.Of(ctx).Enter(g.clock.Now())
	if err != nil {
		return turn.Report{}, err
	}
	defer leave()
	return g.Runner.Dry(ctx, q)
}

// metered counts the tokens of every model call: on the accounts of the key that asked and of its
// tenant; what nobody asked for, as summaries, on the tenant's alone. It tells each call what
// its tokens cost.
type metered struct {
	*late
	keys   *auth.Keyring
	clock  clock.Clock
	prices *atomic.Pointer[money.Table]
}

func (a *App) metered() metered { return metered{a.generator, a.keys, a.clock, &a.prices} }

// setPrices has the prices of the settings count from the next call on.
func (a *App) setPrices(c config.Config) {
	all := c.PriceTable()
	a.prices.Store(&all)
}

// priced tells whether there is a price for calls of an adapter, at some engine at least.
func (a *App) priced(adapter string) bool {
	return slices.ContainsFunc(*a.prices.Load(), func(r money.Row) bool { return r.Model == "" || r.Model == adapter })
}

// Generate implements backend.Generator.
func (m metered) Generate(ctx context.Context, r backend.Request) iter.Seq2[chat.Event, error] {
	spend, prices := m.account(ctx, r.Salt), *m.prices.Load()
	if spend == nil && len(prices) == 0 {
		return m.late.Generate(ctx, r)
	}
	return func(yield func(chat.Event, error) bool) {
		var used bill
		if spend != nil {
			defer func() { spend(used.spent()) }()
		}
		for e, err := range m.late.Generate(ctx, r) {
			if e.Start != nil {
				e.Start.Rate, _ = prices.Find(e.Start.Engine.Name, r.Revision.Name)
			}
			used.add(e)
			if !yield(e, err) {
				return
			}
		}
	}
}

func (m metered) account(ctx context.Context, tenant string) func(record.Spent) {
	if p := auth.Of(ctx); p.KeyID != "" {
		return func(s record.Spent) { p.Spend(m.clock.Now(), s) }
	}
	if t := m.keys.Tenant(tenant); t != nil {
		return func(s record.Spent) { t.Spend(m.clock.Now(), s) }
	}
	return nil
}

// bill is what a call has used so far. One that is cut short has no last event: then its
// prompt and a token for each piece are counted.
type bill struct {
	rate                   money.Rate
	prompt, cached, output int
}

func (b *bill) add(e chat.Event) {
	switch {
	case e.Start != nil:
		b.rate, b.prompt, b.cached = e.Start.Rate, e.Start.PromptTokens, e.Start.CachedTokens
	case e.Finish != nil:
		u := e.Finish.Usage
		b.prompt, b.cached, b.output = u.PromptTokens, u.CachedTokens, u.OutputTokens
	default:
		b.output += max(1, len(e.Tokens))
	}
}

func (b *bill) spent() record.Spent {
	return record.Spent{Tokens: int64(b.prompt) + int64(b.output), Cost: b.rate.Cost(b.prompt, b.cached, b.output)}
}
