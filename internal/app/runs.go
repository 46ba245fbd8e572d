package app

import (
	"context"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/auth"
	"macaron/internal/contract"
	"macaron/internal/harness"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// runs is what runs of tasks need beyond turns. Nothing of it starts before a run does.
type runs struct {
	*harness.Harness
}

// openRuns sets up the harness. Runs that a process which has ended left under way are
// closed as stopped; they, and those that an orderly stop cut short, go on if the settings
// say so.
func (a *App) openRuns(Options) error {
	a.runs = &runs{}
	a.onClose(a.closeRuns)
	a.runs.Harness = harness.New(harness.Deps{
		Generator: a.seen(a.metered()), Contracts: agents{a.catalogue}, Log: a.store, Tools: a.tools.Tools, Pool: a.tools.Pool, Saver: a.tools, Home: a.tools.Work(),
		Clock: a.clock, IDs: a.ids, Logger: a.log, Running: a.cfg.Runs.Running, Waiting: a.cfg.Runs.Waiting,
		Priced: a.priced, Secret: a.tools.Secret, Variable: a.tools.Variable,
	})
	ctx := context.Background()
	left, err := a.runs.Sweep(ctx)
	if err != nil {
		return err
	}
	if err := a.goOnCutShort(ctx); err != nil {
		return err
	}
	a.goOn(ctx, left)
	a.collectRuns()
	a.inBackground(takeOverEvery, func(ctx context.Context) {
		left, err := a.runs.SweepLost(ctx)
		if err != nil && ctx.Err() == nil {
			a.log.Error("runs of a process that ended could not be closed", "err", err)
		}
		a.goOn(context.WithoutCancel(ctx), left)
	})
	return nil
}

// collectRuns deletes, every hour, what deleted runs have left on disk.
func (a *App) collectRuns() {
	a.inBackground(time.Hour, func(ctx context.Context) {
		gone, err := harness.Collect(ctx, a.store, a.tools.Work(), a.clock.Now())
		if gone > 0 {
			a.log.Info("files of deleted runs were deleted", "files", gone)
		}
		if err != nil && ctx.Err() == nil {
			a.log.Error("files of deleted runs could not be deleted", "err", err)
		}
	})
}

// goOn resumes runs that a process left which ended suddenly, if the settings say so.
func (a *App) goOn(ctx context.Context, left []record.RunState) {
	for _, r := range left {
		a.log.Warn("a run of a process that ended suddenly was closed as stopped", "run", r.Run)
		if a.cfg.Runs.Resume {
			a.resume(ctx, r)
		}
	}
}

// goOnCutShort resumes those that an orderly stop cut short, if the settings say so.
func (a *App) goOnCutShort(ctx context.Context) error {
	if !a.cfg.Runs.Resume {
		return nil
	}
	cut, err := a.runs.CutShort(ctx)
	for _, r := range cut {
		a.resume(ctx, r)
	}
	return err
}

func (a *App) resume(ctx context.Context, r record.RunState) {
	as := auth.With(ctx, auth.Principal{Owner: r.Owner})
	if err := a.runs.Continue(as, r.Owner, r.Run, harness.Decision{}, harness.Options{}); err != nil {
		a.log.Error("a run could not go on", "run", r.Run, "err", err)
	}
}

// closeRuns stops what is under way, so that it can be resumed.
func (a *App) closeRuns() error {
	if a.runs.Harness != nil {
		a.runs.Close()
	}
	return nil
}

// agents shows the registry in the words of the harness.
type agents struct{ *catalogue }

// Current implements harness.Contracts.
func (c agents) Current(ctx context.Context, owner string) (*contract.Contract, []adapter.Revision, error) {
	now, err := c.catalogue.Current(ctx, owner, auth.Of(ctx).User, "")
	return now.Contract, now.Adapters, err
}

// Contract implements harness.Contracts.
func (c agents) Contract(h ids.Digest) (*contract.Contract, error) { return c.catalogue.Contract(h) }
