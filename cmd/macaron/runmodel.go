package main

import (
	"context"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/obs"
	"macaron/internal/record"
)

// stands asks the log whether a run can go on, before a model is loaded for it. What the
// Macaron that serves here says about it is its own matter.
func (e *env) stands(ctx context.Context, run string) error {
	c, err := e.config()
	if err != nil {
		return err
	}
	if running, err := serving(ctx, c); err != nil || running != nil {
		return err
	}
	return e.withStore(ctx, func(s app.Store) error {
		state, err := s.Run(ctx, auth.Local, run)
		if err != nil {
			return err
		}
		if !state.Status.Resumable() && state.Status != record.RunRunning { // running: its process has ended
			return errs.New(errs.InvalidRequest, "the run is "+string(state.Status)+", which is final", "start another one")
		}
		return nil
	})
}

// withoutModel is withServer for what needs no model: none is loaded.
func (e *env) withoutModel(cmd *cobra.Command, fn func(context.Context, *client) error) error {
	c, err := e.config()
	if err != nil {
		return err
	}
	running, err := serving(cmd.Context(), c)
	if err != nil {
		return err
	}
	if running != nil {
		return fn(cmd.Context(), running)
	}
	c.Listen, c.Door, c.Key, c.Runs.Resume = "127.0.0.1:0", config.Door{}, config.Secret(auth.NewSecret()), false
	c.Mint.Enabled = false // without a model nothing trains
	a, err := app.New(c, app.Options{Version: version, Generator: noModel{}, Log: obs.NewLog(e.err, "error", c.Log.Format), Key: c.Key, Drain: time.Millisecond})
	if err != nil {
		return err
	}
	return inProcess(cmd.Context(), c, a, fn)
}

// noModel is there while a command runs that generates nothing. Work of the background that
// would, such as a summary, waits until the command has ended.
type noModel struct{}

func (noModel) Generate(ctx context.Context, _ backend.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		<-ctx.Done()
		yield(chat.Event{}, errs.Wrap(errs.Canceled, ctx.Err(), "this command has no model", ""))
	}
}

func (noModel) Capabilities() backend.Capabilities {
	return backend.Capabilities{Adapters: true, Choices: true, Tools: true, ForcedTools: true}
}

func (noModel) Ready(context.Context) error { return nil }
