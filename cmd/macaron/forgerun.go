package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/contract/sign"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/loop"
	"macaron/internal/mint/filter"
	"macaron/internal/models"
	"macaron/internal/obs"
	storejobs "macaron/internal/store/jobs"
)

// newForgeRun runs the loop.
func newForgeRun(e *env) *cobra.Command {
	serve := false
	c := &cobra.Command{Use: "run FILE", Short: "Run the loop by a forge.toml, or go on with the run that it names", Args: args(1, 1, "a forge.toml"),
		Long:    "Run the loop, generation by generation. The same file is the same run: stopped or killed anywhere, the same command goes on with it.\nExit code 0: something was promoted; 11: the run ended without a promotion; 12: it waits for a person, or is paused.",
		Example: "  macaron forge run forge.toml\n  macaron forge run forge.toml --serve\n  macaron forge status",
		RunE: func(cmd *cobra.Command, given []string) error {
			set, err := readForge(given[0])
			if err != nil {
				return err
			}
			return e.forActor(cmd, set.Actor, func(c config.Config, m models.Local) error {
				if err := os.MkdirAll(c.Home, 0o700); err != nil {
					return disk.Error(err, c.Home+" cannot be made")
				}
				if err := live(set, c, serve); err != nil {
					return err
				}
				o := app.Options{Version: version, Model: m, Log: obs.NewLog(e.err, "error", c.Log.Format), Evaluations: func() ([]filter.EvalSet, error) { return evaluations("") }}
				if serve {
					return e.forgeServed(cmd.Context(), c, set, "macaron forge run "+given[0]+" --serve", o)
				}
				f, err := app.OpenForge(cmd.Context(), c, set, "macaron forge run "+given[0], o)
				if err != nil {
					return err
				}
				return errors.Join(e.forgeRun(cmd.Context(), f, false), f.Close())
			})
		}}
	c.Flags().BoolVar(&serve, "serve", false, "serve as `macaron serve` does while the loop works, and after it, until stopped: a canary is tried on these conversations")
	return c
}

// forActor gives what an actor runs on: the harness has a model.
func (e *env) forActor(cmd *cobra.Command, actor string, do func(config.Config, models.Local) error) error {
	if actor == loop.Harness {
		return e.withModel(cmd, do)
	}
	c, err := e.config()
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

func (e *env) forgeRun(ctx context.Context, f *app.ForgeRun, patient bool) error {
	if !e.json {
		fmt.Fprintln(e.out, f.Run)
	}
	note := ""
	err := f.Work(ctx, patient, func(all []jobs.Status) {
		if s := current(all); s.Progress.Note != note && !e.json {
			note = s.Progress.Note
			fmt.Fprintln(e.err, told(s))
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
	s, err := forgeState(f.Run, all, list, true)
	if err != nil {
		return err
	}
	if err := e.showForge(s); err != nil {
		return err
	}
	return s.exit()
}

// current is the job that is worked on, or the last one.
func current(all []jobs.Status) (s jobs.Status) {
	for _, s = range all {
		if !s.State.Ended() {
			return s
		}
	}
	return s
}

func told(s jobs.Status) string {
	if w, ok := loop.WaitsFor(s.Progress.Note); ok {
		return fmt.Sprintf("waits for approval of %s: %s", w.Candidate.Short(), w.Why)
	}
	line := fmt.Sprintf("%s  %d of %d", s.Progress.Note, s.Progress.Done, s.Progress.Total)
	if left, ok := s.Progress.Left(); ok {
		line += ", about " + left.Round(time.Second).String()
	}
	return line
}

// forgeStatus is how a run stands.
type forgeStatus struct {
	Run        string         `json:"run"`
	State      string         `json:"state"` // running, paused, waiting, failed, ended
	Generation int            `json:"generation"`
	Stage      string         `json:"stage,omitempty"`
	Done       int            `json:"done"`
	Total      int            `json:"total"`
	LeftMS     int64          `json:"left_ms,omitempty"` // of the stage, at its measured pace
	Waits      *loop.Wanted   `json:"waits,omitempty"`
	Error      *jobs.Failure  `json:"error,omitempty"`
	Promoted   int            `json:"promoted"`
	Rejected   int            `json:"rejected"`
	Spent      mindforge.Cost `json:"spent"`
	End        string         `json:"end,omitempty"`
}

// exit is the exit code of a run that stands still.
func (s forgeStatus) exit() error {
	switch {
	case s.Error != nil:
		return reported{s.Error.Code}
	case s.State != "ended":
		return exit{12}
	case s.Promoted == 0:
		return exit{11}
	}
	return nil
}

// forgeState puts together what the ledger and the queue say of a run.
func forgeState(run string, all []ledger.Entry, list []jobs.Status, paused bool) (forgeStatus, error) {
	s := forgeStatus{Run: run, State: "running"}
	for _, en := range all {
		b, err := en.Decode()
		if err != nil {
			return s, err
		}
		s.add(en.Key, b)
	}
	c := current(list)
	s.Stage, s.Done, s.Total = c.Progress.Note, c.Progress.Done, c.Progress.Total
	if left, ok := c.Progress.Left(); ok {
		s.LeftMS = left.Milliseconds()
	}
	w, waits := loop.WaitsFor(c.Progress.Note)
	switch {
	case s.End != "":
		s.State, s.Stage, s.LeftMS = "ended", "", 0
	case c.State == jobs.Failed:
		s.State, s.Error = "failed", c.Last
	case waits:
		s.State, s.Waits, s.Stage = "waiting", &w, "gate"
	case paused:
		s.State = "paused"
	}
	return s, nil
}

func (s *forgeStatus) add(key string, b ledger.Body) {
	switch b := b.(type) {
	case ledger.Step:
		s.Generation = max(s.Generation, b.Generation)
		if key == "end" {
			s.End = b.Note
		}
	case ledger.Decision:
		s.Spent = s.Spent.Plus(b.Decision.Cost)
		switch {
		case !b.Decision.Pass:
			s.Rejected++
		case b.Decision.Stage == mindforge.Champion:
			s.Promoted++
		}
	case ledger.Made:
		s.Spent = s.Spent.Plus(b.Cost)
	}
}

func (e *env) showForge(all ...forgeStatus) error {
	if e.json {
		return e.printJSON(map[string]any{"runs": all})
	}
	rows := [][]string{{"run", "state", "generation", "stage", "done", "left", "promoted", "rejected", "attempts", "trained", "usd"}}
	for _, s := range all {
		left := ""
		if s.LeftMS > 0 {
			left = (time.Duration(s.LeftMS) * time.Millisecond).Round(time.Second).String()
		}
		rows = append(rows, []string{s.Run, s.State, fmt.Sprint(s.Generation), s.Stage, fmt.Sprintf("%d/%d", s.Done, s.Total), left, fmt.Sprint(s.Promoted), fmt.Sprint(s.Rejected),
			fmt.Sprint(s.Spent.Attempts), fmt.Sprint(s.Spent.Trained), fmt.Sprintf("%.2f", s.Spent.USD)})
	}
	if err := e.table(rows...); err != nil {
		return err
	}
	for _, s := range all {
		switch {
		case s.Waits != nil:
			fmt.Fprintf(e.out, "%s waits for approval of %s: %s\n  macaron forge approve %s --key KEY\n", s.Run, s.Waits.Candidate.Short(), s.Waits.Why, s.Run)
		case s.Error != nil:
			fmt.Fprintf(e.out, "%s failed (%s): %s\n", s.Run, s.Error.Code, s.Error.Message)
			if s.Error.Next != "" {
				fmt.Fprintf(e.out, "  %s\n", s.Error.Next)
			}
			fmt.Fprintf(e.out, "  macaron forge resume %s, then run it again\n", s.Run)
		case s.End != "":
			fmt.Fprintf(e.out, "%s ended: %s\n", s.Run, s.End)
		}
	}
	return nil
}

// withForge opens log and queue beside a running process.
func (e *env) withForge(ctx context.Context, do func(l *ledger.Ledger, q *storejobs.Queue) error) error {
	c, err := e.config()
	if err != nil {
		return err
	}
	return e.withStore(ctx, func(s app.Store) error {
		q, err := app.Jobs(ctx, c, false)
		if err != nil {
			return err
		}
		return errors.Join(do(&ledger.Ledger{Store: s, Clock: clock.System{}, Limits: ledger.DefaultLimits}, q), q.Close())
	})
}

func newForgeStatus(e *env) *cobra.Command {
	return &cobra.Command{Use: "status [RUN]", Short: "Tell how runs of the loop stand: stage, progress, the time that is left of it, what was spent", Args: args(0, 1, "a run"),
		RunE: func(cmd *cobra.Command, given []string) error {
			return e.withForge(cmd.Context(), func(l *ledger.Ledger, q *storejobs.Queue) error {
				runs := given
				if len(runs) == 0 {
					var err error
					if runs, err = l.Store.LedgerRuns(cmd.Context(), auth.Local, 100); err != nil {
						return err
					}
				}
				all := []forgeStatus{}
				for _, run := range runs {
					s, err := forgeAt(cmd.Context(), l, q, run)
					if err != nil {
						return err
					}
					all = append(all, s)
				}
				return e.showForge(all...)
			})
		}}
}

func forgeAt(ctx context.Context, l *ledger.Ledger, q *storejobs.Queue, run string) (forgeStatus, error) {
	entries, err := l.All(ctx, auth.Local, run)
	if err != nil {
		return forgeStatus{}, err
	}
	list, err := q.List(ctx, run)
	if err != nil {
		return forgeStatus{}, err
	}
	if len(entries) == 0 && len(list) == 0 {
		return forgeStatus{}, errs.New(errs.NotFound, "there is no run "+errs.Clip(run), "`macaron forge status` lists them")
	}
	paused, err := q.Paused(ctx, run)
	if err != nil {
		return forgeStatus{}, err
	}
	return forgeState(run, entries, list, paused)
}

func newForgePause(e *env) *cobra.Command {
	return e.forgeGroup("pause RUN", "Stop a run behind its step; it goes on after resume", func(ctx context.Context, q *storejobs.Queue, run string) error { return q.Pause(ctx, run) })
}

func newForgeResume(e *env) *cobra.Command {
	return e.forgeGroup("resume RUN", "Let a run go on that was paused or has failed", func(ctx context.Context, q *storejobs.Queue, run string) error { return q.Resume(ctx, run) })
}

func (e *env) forgeGroup(use, short string, do func(ctx context.Context, q *storejobs.Queue, run string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args(1, 1, "a run"),
		RunE: func(cmd *cobra.Command, given []string) error {
			return e.withForge(cmd.Context(), func(l *ledger.Ledger, q *storejobs.Queue) error {
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
				return e.showForge(s)
			})
		}}
}

func newForgeApprove(e *env) *cobra.Command {
	var key string
	c := &cobra.Command{Use: "approve RUN --key KEY", Short: "Say yes to the candidate that a run waits for, and let it go on", Args: args(1, 1, "a run"),
		Long: "Sign a yes to exactly this candidate in place of exactly this champion, under this evaluation contract. Whether the key may, the\nevaluator decides.",
		RunE: func(cmd *cobra.Command, given []string) error {
			private, err := sign.Private(key)
			if err != nil {
				return err
			}
			return e.withForge(cmd.Context(), func(l *ledger.Ledger, q *storejobs.Queue) error {
				w, err := app.ForgeApprove(cmd.Context(), l, q, auth.Local, given[0], private)
				if err != nil {
					return err
				}
				if e.json {
					return e.printJSON(map[string]any{"run": given[0], "approved": w})
				}
				fmt.Fprintf(e.out, "approved %s in place of %s; `macaron forge run` goes on\n", w.Candidate.Short(), w.Against.Short())
				return nil
			})
		}}
	c.Flags().StringVar(&key, "key", "", "file of the private key (required)")
	return c
}

// newEvaluatorRehearse is the evaluator's process of a run whose actor is scripted.
func newEvaluatorRehearse(e *env) *cobra.Command {
	var problem, skills string
	var outside []string
	c := &cobra.Command{Use: "rehearse DIR CONTRACT", Hidden: true, Short: "Judge candidates at a planted problem (started by the loop)", Args: args(2, 2, "an evaluator's directory and its contract"),
		RunE: func(cmd *cobra.Command, given []string) error {
			v, err := app.Rehearsed(given[0], given[1], problem, skills, outside)
			if err != nil {
				return err
			}
			return errors.Join(v.Serve(cmd.Context(), e.in, e.out), v.Close())
		}}
	c.Flags().StringVar(&problem, "problem", "", "the table scripted, as JSON")
	c.Flags().StringVar(&skills, "skills", "", "directory of skills by their hashes")
	c.Flags().StringSliceVar(&outside, "outside", nil, "directories that the loop may write")
	return c
}
