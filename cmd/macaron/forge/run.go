package forge

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/cmd/macaron/data"
	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/contract/sign"
	"macaron/internal/disk"
	"macaron/internal/jobs"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/loop"
	"macaron/internal/mint/filter"
	"macaron/internal/models"
	"macaron/internal/obs"

	storejobs "macaron/internal/store/jobs"
)

// newForgeRun runs the loop.
func newForgeRun(e *cli.Env) *cobra.Command {
	serve := false
	c := &cobra.Command{Use: "run FILE", Short: "Run the loop by a forge.toml, or go on with the run that it names", Args: cli.Args(1, 1, "a forge.toml"),
		Long:    "Run the loop, generation by generation. The same file is the same run: stopped or killed anywhere, the same command goes on with it.\nExit code 0: something was promoted; 11: the run ended without a promotion; 12: it waits for a person, or is paused.",
		Example: "  macaron forge run forge.toml\n  macaron forge run forge.toml --serve\n  macaron forge status",
		RunE: func(cmd *cobra.Command, given []string) error {
			set, err := readForge(given[0])
			if err != nil {
				return err
			}
			return forActor(e, cmd, set.Actor, func(c config.Config, m models.Local) error {
				if err := os.MkdirAll(c.Home, 0o700); err != nil {
					return disk.Error(err, c.Home+" cannot be made")
				}
				if err := live(set, c, serve); err != nil {
					return err
				}
				o := app.Options{Version: cli.Version, Model: m, Log: obs.NewLog(e.Err, "error", c.Log.Format), Evaluations: func() ([]filter.EvalSet, error) { return data.Evaluations("") }}
				if serve {
					return forgeServed(cmd.Context(), e, c, set, "macaron forge run "+given[0]+" --serve", o)
				}
				f, err := app.OpenForge(cmd.Context(), c, set, "macaron forge run "+given[0], o)
				if err != nil {
					return err
				}
				return errors.Join(forgeRun(cmd.Context(), e, f, false), f.Close())
			})
		}}
	c.Flags().BoolVar(&serve, "serve", false, "serve as macaron serve does while the loop works, and after it, until stopped: a canary is tried on these conversations")
	return c
}

// forActor gives what an actor runs on: the harness has a model.
func forActor(e *cli.Env, cmd *cobra.Command, actor string, do func(config.Config, models.Local) error) error {
	if actor == loop.Harness {
		return e.WithModel(cmd, do)
	}
	c, err := e.Config()
	if err != nil {
		return err
	}
	return do(c, models.Local{})
}

func readForge(path string) (loop.Settings, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the person names it
	if err != nil {
		return loop.Settings{}, disk.OpenError(err, path+" cannot be read", "docs/formats/forge.md has an example")
	}
	return loop.Parse(text)
}

func forgeRun(ctx context.Context, e *cli.Env, f *app.ForgeRun, patient bool) error {
	if !e.JSON {
		fmt.Fprintln(e.Out, f.Run)
	}
	note := ""
	err := f.Work(ctx, patient, func(all []jobs.Status) {
		if s := current(all); s.Progress.Note != "" && s.Progress.Note != note && !e.JSON {
			note = s.Progress.Note
			fmt.Fprintln(e.Err, told(s, all, spentSoFar(ctx, f)))
		}
	})
	if err != nil {
		return err
	}
	all, err := f.Ledger.All(ctx, f.Owner, f.Run)
	if err != nil {
		return err
	}
	list, err := f.Queue.List(ctx, f.Run)
	if err != nil {
		return err
	}
	s, err := forgeState(f.Run, all, queued{jobs: list, paused: true})
	if err != nil {
		return err
	}
	if err := showForge(e, s); err != nil {
		return err
	}
	return s.exit()
}

// spentSoFar is what the run has spent. Where that cannot be read the run will say so itself: what
// is left is not told then.
func spentSoFar(ctx context.Context, f *app.ForgeRun) (so loop.Spent) {
	all, err := f.Ledger.All(ctx, f.Owner, f.Run)
	if err != nil {
		return so
	}
	for _, e := range all {
		if b, err := e.Decode(); err == nil {
			so.Add(b)
		}
	}
	return so
}

// withForge opens log and queue beside a running process.
func withForge(ctx context.Context, e *cli.Env, do func(l *ledger.Ledger, q *storejobs.Queue) error) error {
	c, err := e.Config()
	if err != nil {
		return err
	}
	return e.WithStore(ctx, func(s app.Store) error {
		q, err := app.Jobs(ctx, c, false, nil)
		if err != nil {
			return err
		}
		return errors.Join(do(&ledger.Ledger{Store: s, Clock: clock.System{}, Limits: ledger.DefaultLimits}, q), q.Close())
	})
}

func newForgePause(e *cli.Env) *cobra.Command {
	return forgeGroup(e, "pause RUN", "Stop a run behind its step; it goes on after resume", func(ctx context.Context, q *storejobs.Queue, run string) error { return q.Pause(ctx, run) })
}

func newForgeResume(e *cli.Env) *cobra.Command {
	return forgeGroup(e, "resume RUN", "Let a run go on that was paused or has failed", func(ctx context.Context, q *storejobs.Queue, run string) error { return q.Resume(ctx, run) })
}

func forgeGroup(e *cli.Env, use, short string, do func(ctx context.Context, q *storejobs.Queue, run string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cli.Args(1, 1, "a run"),
		RunE: func(cmd *cobra.Command, given []string) error {
			return withForge(cmd.Context(), e, func(l *ledger.Ledger, q *storejobs.Queue) error {
				if _, err := forgeAt(cmd.Context(), l, q, given[0]); err != nil {
					return err
				}
				if err := do(cmd.Context(), q, given[0]); err != nil {
					return err
				}
				s, err := forgeAt(cmd.Context(), l, q, given[0])
				if err != nil {
					return err
				}
				return showForge(e, s)
			})
		}}
}

func newForgeApprove(e *cli.Env) *cobra.Command {
	var key string
	c := &cobra.Command{Use: "approve RUN --key KEY", Short: "Say yes to the candidate that a run waits for, and let it go on", Args: cli.Args(1, 1, "a run"),
		Long: "Sign a yes to exactly this candidate in place of exactly this champion, under this evaluation contract. Whether the key may, the\nevaluator decides.",
		RunE: func(cmd *cobra.Command, given []string) error {
			private, err := sign.Private(key)
			if err != nil {
				return err
			}
			return withForge(cmd.Context(), e, func(l *ledger.Ledger, q *storejobs.Queue) error {
				w, err := app.ForgeApprove(cmd.Context(), l, q, auth.Local, given[0], private)
				if err != nil {
					return err
				}
				if e.JSON {
					return e.PrintJSON(map[string]any{"run": given[0], "approved": w})
				}
				fmt.Fprintf(e.Out, "approved %s in place of %s; `macaron forge run` goes on\n", w.Candidate.Short(), w.Against.Short())
				return nil
			})
		}}
	c.Flags().StringVar(&key, "key", "", "file of the private key (required)")
	return c
}

// newEvaluatorRehearse is the evaluator's process of a run whose actor is scripted.
func newEvaluatorRehearse(e *cli.Env) *cobra.Command {
	var problem, skills string
	var outside []string
	c := &cobra.Command{Use: "rehearse DIR CONTRACT", Hidden: true, Short: "Judge candidates at a planted problem (started by the loop)", Args: cli.Args(2, 2, "an evaluator's directory and its contract"),
		RunE: func(cmd *cobra.Command, given []string) error {
			v, err := app.Rehearsed(given[0], given[1], problem, skills, outside)
			if err != nil {
				return judgesNothing(e, err)
			}
			return errors.Join(v.Serve(cmd.Context(), e.In, e.Out), v.Close())
		}}
	c.Flags().StringVar(&problem, "problem", "", "the table scripted, as JSON")
	c.Flags().StringVar(&skills, "skills", "", "directory of skills by their hashes")
	c.Flags().StringSliceVar(&outside, "outside", nil, "directories that the loop may write")
	return c
}
