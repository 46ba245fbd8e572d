package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/record"
	"macaron/internal/store/homelock"
	"macaron/internal/transcript"
)

// CancelRun ends a run of a home that no Macaron serves, and gives it as it stands then. The
// log is all that it needs: the contract may be unreadable and the model gone.
func CancelRun(ctx context.Context, cfg config.Config, run string) (*transcript.Run, error) {
	if err := os.MkdirAll(cfg.Home, 0o700); err != nil {
		return nil, disk.Error(err, cfg.Home+" cannot be made")
	}
	lock, err := homelock.Acquire(cfg.Home)
	if err != nil {
		return nil, err
	}
	s, err := OpenStore(ctx, cfg)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	t, err := cancelIn(ctx, s, filepath.Join(cfg.Home, "runs"), run)
	return t, errors.Join(err, s.Close(), lock.Close())
}

// cancelIn closes what ended processes left under way, this run perhaps among it. One that
// another process works on, in a log that several share, ends at its next step.
func cancelIn(ctx context.Context, s Store, work, run string) (*transcript.Run, error) {
	h := harness.New(harness.Deps{Log: s, Home: work})
	if _, err := h.Sweep(ctx); err != nil {
		return nil, err
	}
	if err := h.Cancel(ctx, auth.Local, run); err != nil {
		return nil, err
	}
	for {
		t, err := h.Transcript(ctx, auth.Local, run)
		if err != nil || t.Status != record.RunRunning {
			return t, err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, errs.Wrap(errs.Canceled, ctx.Err(), "stopped waiting for "+run, "macaron run show "+run+" tells how it stands")
		}
	}
}
