package mint

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/mint/ledger"
	"macaron/internal/train/curve"
	"macaron/internal/train/recipe"
)

// mintWatch are the verbs that show training runs. They read the home, beside a running
// server or without one.
func mintWatch(e *cli.Env) []*cobra.Command {
	all := []*cobra.Command{newMintRuns(e), newMintWatch(e), newMintMetrics(e)}
	for _, c := range all {
		c.Flags().String("tenant", auth.Local, "whose runs")
	}
	return all
}

func newMintRuns(e *cli.Env) *cobra.Command {
	return &cobra.Command{Use: "runs", Short: "List training runs", Args: cli.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return e.WithStore(cmd.Context(), func(s app.Store) error {
			all, _, err := s.Mint().Models(cmd.Context(), Tenant(cmd), ledger.Page{Limit: 1000})
			if err != nil {
				return err
			}
			if e.JSON {
				list := []map[string]any{}
				for _, m := range all {
					list = append(list, map[string]any{"id": m.ID, "base": m.Base, "steps": m.Steps, "created": m.Created, "used": m.Used})
				}
				return e.PrintJSON(list)
			}
			for _, m := range all {
				fmt.Fprintf(e.Out, "%s  %s  %d steps  %s\n", cli.Cell(m.ID), cli.Cell(m.Base), m.Steps, m.Used.Local().Format(time.DateTime))
			}
			return nil
		})
	}}
}

// curves is where the metrics of a run are.
type curves struct {
	path string
	run  string // of the home; empty: the file, or a directory that has it, was named
}

// curvesOf finds what a command names: a metrics.jsonl, a work directory that has one or in which a process
// trains, or a run of the home. Nothing need be measured of it yet.
func curvesOf(e *cli.Env, cmd *cobra.Command, run string) (curves, error) {
	for _, path := range []string{run, filepath.Join(run, curve.File)} {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return curves{path: path}, nil
		}
	}
	if recipe.Trains(run) {
		return curves{path: filepath.Join(run, curve.File)}, nil
	}
	c, err := e.Config()
	if err != nil {
		return curves{}, err
	}
	at := curves{app.Curves(c.Home).Path(Tenant(cmd), run), run}
	if _, err := os.Stat(at.path); err == nil {
		return at, nil
	}
	err = e.WithStore(cmd.Context(), func(s app.Store) error {
		_, err := s.Mint().Model(cmd.Context(), Tenant(cmd), run)
		return err
	})
	if errs.CodeOf(err) == errs.NotFound {
		err = errs.New(errs.NotFound, "nothing was measured of the run "+errs.Clip(run), "`macaron mint runs` lists runs; a metrics.jsonl or a work directory can be named too")
	}
	return at, err
}

func newMintWatch(e *cli.Env) *cobra.Command {
	var w watched
	var page string
	c := &cobra.Command{Use: "watch RUN", Short: "Show what is measured of a training run, as it comes", Args: cli.Args(1, 1, "a training run, a metrics.jsonl or a work directory"),
		Long: "Prints a line for each optimizer step: loss, reward, KL, tokens per second, memory, and the time that is left until the last step, where\n--steps says it, or the run's client in user_metadata, or the recipe. It goes on until it is interrupted; with --steps until that step, and for\na recipe until it has trained to its end.\n" +
			"With --json the lines are those of the file (docs/formats/metrics.md).\nWith --page it prints none, and serves the page of /training with this run on it, until it is interrupted.",
		Example: "  macaron mint watch adapters/mine.work\n  macaron mint watch adapters/mine.work --page\n  macaron mint watch ses_01K...:train:0 --page=127.0.0.1:8090",
		RunE: func(cmd *cobra.Command, given []string) error {
			at, err := curvesOf(e, cmd, given[0])
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("page") {
				return watchPage(e, cmd, at, page, w)
			}
			if w.planned = w.end; w.end == 0 && at.run != "" && !e.JSON {
				if w.planned, err = plannedOf(e, cmd, at.run); err != nil {
					return err
				}
			}
			if at.run == "" {
				w.trains = func() bool { return recipe.Trains(filepath.Dir(at.path)) }
			}
			return follow(cmd.Context(), e, at.path, &w)
		}}
	c.Flags().Int64Var(&w.end, "steps", 0, "steps that the run will have, for the time that is left; it ends there")
	c.Flags().BoolVar(&w.once, "once", false, "show what there is, and end")
	pageFlag(c, &page)
	return c
}

// watchPage shows a run on a page until it is interrupted.
func watchPage(e *cli.Env, cmd *cobra.Command, at curves, address string, w watched) error {
	if w.once {
		return errs.New(errs.InvalidRequest, "a page is there until it is interrupted, and --once ends at once", "leave one of --page and --once out").In("once")
	}
	serve := func(run app.TrainingRun) error {
		s, err := showRun(cmd.Context(), e, address, run)
		if err != nil {
			return err
		}
		return s.wait()
	}
	if at.run == "" {
		return serve(app.RecipeRun(at.path, w.end))
	}
	c, err := e.Config()
	if err != nil {
		return err
	}
	return e.WithStore(cmd.Context(), func(s app.Store) error { return serve(app.HomeRun(s, c.Home, Tenant(cmd), at.run, w.end)) })
}

// plannedOf is what the client of a run says of its steps; 0 where it says nothing, or the run is
// not among those of the store any more.
func plannedOf(e *cli.Env, cmd *cobra.Command, run string) (n int64, err error) {
	err = e.WithStore(cmd.Context(), func(s app.Store) error {
		row, err := s.Mint().Model(cmd.Context(), Tenant(cmd), run)
		if errs.CodeOf(err) == errs.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		m, err := mint.ModelOf(row)
		n = m.Planned()
		return err
	})
	return n, err
}
