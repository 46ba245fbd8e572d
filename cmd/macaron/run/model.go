package run

import (
	"context"
	"encoding/json"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/transcript"

	runsapi "macaron/internal/wire/runs"
)

// stands asks the log whether a run can go on, before a model is loaded for it. What the
// Macaron that serves here says about it is its own matter.
func stands(ctx context.Context, e *cli.Env, run string) error {
	c, err := e.Config()
	if err != nil {
		return err
	}
	if running, err := cli.Serving(ctx, c); err != nil || running != nil {
		return err
	}
	return e.WithStore(ctx, func(s app.Store) error {
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

// cancel ends a run: by the Macaron that serves here, else in the log alone.
func cancel(ctx context.Context, e *cli.Env, run string) (*taskRun, error) {
	return there(ctx, e, func(c *cli.Client) (*taskRun, error) {
		if _, err := posted(ctx, c, "/v1/runs/"+run+"/cancel", struct{}{}); err != nil {
			return nil, err
		}
		return await(ctx, c, run)
	}, func(c config.Config) (*transcript.Run, error) { return app.CancelRun(ctx, c, run) })
}

// judge keeps what a person says of a run, in the same way.
func judge(ctx context.Context, e *cli.Env, run string, f record.Feedback) (*taskRun, error) {
	return there(ctx, e, func(c *cli.Client) (*taskRun, error) {
		if _, err := posted(ctx, c, "/v1/runs/"+run+"/feedback", map[string]any{"score": f.Score, "reason": f.Reason}); err != nil {
			return nil, err
		}
		return runAt(ctx, c, run)
	}, func(c config.Config) (*transcript.Run, error) { return app.JudgeRun(ctx, c, run, f) })
}

// there has the Macaron that serves here do something with a run; without one it is done in the log.
func there(ctx context.Context, e *cli.Env, ask func(*cli.Client) (*taskRun, error), do func(config.Config) (*transcript.Run, error)) (*taskRun, error) {
	c, err := e.Config()
	if err != nil {
		return nil, err
	}
	running, err := cli.Serving(ctx, c)
	if err != nil {
		return nil, err
	}
	if running != nil {
		return ask(running)
	}
	t, err := do(c)
	if err != nil {
		return nil, err
	}
	r := &taskRun{}
	if r.raw, err = json.Marshal(runsapi.Whole(t)); err == nil {
		err = json.Unmarshal(r.raw, r)
	}
	return r, err
}
