package mint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/mint/ledger"
	"macaron/internal/train/curve"
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

// curvesOf finds what a command names: a metrics.jsonl, a work directory that has one, or a run of
// the home.
func curvesOf(e *cli.Env, cmd *cobra.Command, run string) (curves, error) {
	for _, path := range []string{run, filepath.Join(run, curve.File)} {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return curves{path: path}, nil
		}
	}
	c, err := e.Config()
	if err != nil {
		return curves{}, err
	}
	path := app.Curves(c.Home).Path(Tenant(cmd), run)
	if _, err := os.Stat(path); err != nil {
		return curves{}, errs.Wrap(errs.NotFound, err, "nothing was measured of the run "+errs.Clip(run), "`macaron mint runs` lists runs; a metrics.jsonl or a work directory can be named too")
	}
	return curves{path, run}, nil
}

func newMintWatch(e *cli.Env) *cobra.Command {
	var w watched
	c := &cobra.Command{Use: "watch RUN", Short: "Show what is measured of a training run, as it comes", Args: cli.Args(1, 1, "a training run, a metrics.jsonl or a work directory"),
		Long: "Prints a line for each optimizer step until it is interrupted: loss, reward, KL, tokens per second, memory, and the time that is left until\nthe last step, where --steps says it, or the run's client in user_metadata. With --steps it ends there.\nWith --json the lines are those of the file (docs/formats/metrics.md).",
		RunE: func(cmd *cobra.Command, given []string) error {
			at, err := curvesOf(e, cmd, given[0])
			if err != nil {
				return err
			}
			if w.planned = w.end; w.end == 0 && at.run != "" && !e.JSON {
				if w.planned, err = plannedOf(e, cmd, at.run); err != nil {
					return err
				}
			}
			return follow(cmd.Context(), e, at.path, w)
		}}
	c.Flags().Int64Var(&w.end, "steps", 0, "steps that the run will have, for the time that is left; it ends there")
	c.Flags().BoolVar(&w.once, "once", false, "show what there is, and end")
	return c
}

// watched says how a run is watched.
type watched struct {
	planned int64 // steps that it will have; 0: nobody says
	end     int64 // the step behind which nothing is shown; 0: none
	once    bool
	first   curve.Line // that was read
}

// plannedOf is what the client of a run says of its steps; 0 where it says nothing, or the run is
// not among those of the store any more.
func plannedOf(e *cli.Env, cmd *cobra.Command, run string) (n int64, err error) {
	err = e.WithStore(cmd.Context(), func(s app.Store) error {
		row, err := s.Mint().Model(cmd.Context(), Tenant(cmd), run)
		if errs.CodeOf(err) == errs.NotFound {
			return nil
		}
		n = mint.PlannedOf(row)
		return err
	})
	return n, err
}

// follow prints lines as they come.
func follow(ctx context.Context, e *cli.Env, path string, w watched) error {
	for at := int64(0); ; {
		lines, next, err := curve.Read(path, at, 1000)
		if err != nil {
			return err
		}
		at = next
		for _, l := range lines {
			if w.first == nil {
				w.first = l
			}
			if err := printLine(e, l, w); err != nil {
				return err
			}
			if w.end > 0 && l["step"] >= float64(w.end) {
				return nil
			}
		}
		if w.once && len(lines) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// left is the time from a line to the last step, at the pace since the first line: steps wait for
// what the client does between them. After the first it is by what that step took itself.
func (w watched) left(l curve.Line) time.Duration {
	pace := l["seconds"]
	if steps := l["step"] - w.first["step"]; steps > 0 {
		pace = (l["time"] - w.first["time"]) / steps
	}
	seconds := min(pace*(float64(w.planned)-l["step"]), 1e9)
	return time.Duration(seconds * float64(time.Second)).Round(time.Second)
}

func printLine(e *cli.Env, l curve.Line, w watched) error {
	if e.JSON {
		return e.PrintJSON(l)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "step %d", int(l["step"]))
	if l["step"] <= float64(w.planned) {
		fmt.Fprintf(&out, "/%d", w.planned)
	}
	if text := glance(l); text != "" {
		fmt.Fprintf(&out, " %s", text)
	}
	if x, ok := l["tokens_per_second"]; ok {
		fmt.Fprintf(&out, " %.0f tok/s", x)
	}
	if x, ok := l["memory_bytes"]; ok {
		fmt.Fprintf(&out, " %.0f MiB", x/(1<<20))
	}
	if left := w.left(l); left > 0 && w.planned > 0 {
		fmt.Fprintf(&out, ", %s left", left)
	}
	_, err := fmt.Fprintln(e.Out, out.String())
	return disk.Error(err, "the output cannot be written")
}
