package app

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/harness"
	forgeledger "macaron/internal/mindforge/ledger"
	forge "macaron/internal/mindforge/serve"
	revisions "macaron/internal/mint/catalogue"
	"macaron/internal/mint/ledger"
	"macaron/internal/record"
	"macaron/internal/retention"
	"macaron/internal/session"
	"macaron/internal/store/postgres"
	"macaron/internal/store/sqlite"
	"macaron/internal/toolshed"
)

// Store is what both stores of the log are to this room and to the commands.
type Store interface {
	session.Store
	retention.Store
	harness.Log
	auth.Ledger
	toolshed.Log
	revisions.Store
	forgeledger.Store
	forge.Traffic
	Mint() ledger.Store
	// Erasures lists what was deleted of an owner, newest first, at most limit.
	Erasures(ctx context.Context, owner string, limit int) ([]record.Erased, error)
	Close() error
}

// OpenStore opens the record log where the settings say that it is.
func OpenStore(ctx context.Context, c config.Config) (Store, error) {
	if c.Store.URL != "" {
		return postgres.Open(ctx, postgres.Options{URL: c.Store.URL.Reveal()})
	}
	return sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(c.Home, "log.db"), Durability: sqlite.Durability(c.Durability)})
}

// openLog opens the record log and closes what a crashed process left open in it.
func (a *App) openLog(Options) error {
	ctx := context.Background()
	store, err := OpenStore(ctx, a.cfg)
	if err != nil {
		return err
	}
	a.onClose(store.Close)
	a.store = store
	a.openDesk(store)
	a.sessions = session.New(store, session.Options{Clock: a.clock, IDs: a.ids})
	swept, err := a.sessions.Sweep(ctx)
	a.tellSwept(swept)
	if err == nil {
		a.inBackground(takeOverEvery, a.takeOver)
		a.keepFor(store)
	}
	return err
}

func (a *App) tellSwept(turns int) {
	if turns > 0 {
		a.log.Warn("turns of a process that ended suddenly were closed as interrupted", "turns", turns)
	}
}

// takeOverEvery is how often other processes of a shared log are looked after.
const takeOverEvery = 15 * time.Second

// takeOver closes what processes that ended since have left open in a shared log.
func (a *App) takeOver(ctx context.Context) {
	swept, err := a.sessions.SweepLost(ctx)
	a.tellSwept(swept)
	if err != nil && ctx.Err() == nil {
		a.log.Error("turns of a process that ended could not be closed", "err", err)
	}
}

// keepFor deletes, every hour, the conversations whose time is over.
func (a *App) keepFor(s Store) {
	a.policy.Store(policyOf(a.cfg))
	a.inBackground(time.Hour, func(ctx context.Context) {
		p := *a.policy.Load()
		if !p.Any() {
			return
		}
		gone, err := retention.Apply(ctx, s, p, a.clock.Now())
		if gone > 0 {
			a.log.Info("conversations whose time is over were deleted", "sessions", gone)
		}
		if err != nil && ctx.Err() == nil {
			a.log.Error("conversations whose time is over could not be deleted", "err", err)
		}
	})
}

func policyOf(c config.Config) *retention.Policy {
	return &retention.Policy{Keep: c.Store.Keep, Tenants: c.Store.Tenants}
}

// inBackground does a job, and again and again until the app closes.
func (a *App) inBackground(every time.Duration, job func(context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	var jobs sync.WaitGroup
	jobs.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			job(ctx)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	a.onClose(func() error {
		stop()
		jobs.Wait()
		return nil
	})
}
