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

// CancelRun ends a run of a home that no Macaron serves, and gives it as it stands then.
func CancelRun(ctx context.Context, cfg config.Config, run string) (*transcript.Run, error) {
	return inLog(ctx, cfg, func(h *harness.Harness) (*transcript.Run, error) { return cancelIn(ctx, h, run) })
}

// JudgeRun keeps what a person says of a run of a home that no Macaron serves.
func JudgeRun(ctx context.Context, cfg config.Config, run string, f record.Feedback) (*transcript.Run, error) {
	return inLog(ctx, cfg, func(h *harness.Harness) (*transcript.Run, error) {
		if err := h.Judge(ctx, auth.Local, run, f); err != nil {
			return nil, err
		}
		return h.Transcript(ctx, auth.Local, run)
	})
}

// inLog does something with a run in the log alone: the contract may be unreadable and the model gone.
func inLog(ctx context.Context, cfg config.Config, do func(h *harness.Harness) (*transcript.Run, error)) (*transcript.Run, error) {
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
	t, err := do(harness.New(harness.Deps{Log: s, Home: filepath.Join(cfg.Home, "runs")}))
	return t, errors.Join(err, s.Close(), lock.Close())
}

// cancelIn closes what ended processes left under way, this run perhaps among it. One that
// another process works on, in a log that several share, ends at its next step.
func cancelIn(ctx context.Context, h *harness.Harness, run string) (*transcript.Run, error) {
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
