package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/mint/ledger"
	"macaron/internal/train/curve"
)

// mintWatch are the verbs that show training runs. They read the home, beside a running
// server or without one.
func mintWatch(e *env) []*cobra.Command {
	all := []*cobra.Command{newMintRuns(e), newMintWatch(e), newMintMetrics(e)}
	for _, c := range all {
		c.Flags().String("tenant", auth.Local, "whose runs")
	}
	return all
}

func newMintRuns(e *env) *cobra.Command {
	return &cobra.Command{Use: "runs", Short: "List training runs", Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return e.withStore(cmd.Context(), func(s app.Store) error {
			all, _, err := s.Mint().Models(cmd.Context(), tenant(cmd), ledger.Page{Limit: 1000})
			if err != nil {
				return err
			}
			if e.json {
				list := []map[string]any{}
				for _, m := range all {
					list = append(list, map[string]any{"id": m.ID, "base": m.Base, "steps": m.Steps, "created": m.Created, "used": m.Used})
				}
				return e.printJSON(list)
			}
			for _, m := range all {
				fmt.Fprintf(e.out, "%s  %s  %d steps  %s\n", m.ID, m.Base, m.Steps, m.Used.Local().Format(time.DateTime))
			}
			return nil
		})
	}}
}

// curveFile is the file of a run's metrics: that of a run of the home, or the one that is named.
func (e *env) curveFile(cmd *cobra.Command, run string) (string, error) {
	if info, err := os.Stat(run); err == nil && !info.IsDir() {
		return run, nil
	}
	c, err := e.config()
	if err != nil {
		return "", err
	}
	path := app.Curves(c.Home).Path(tenant(cmd), run)
	if _, err := os.Stat(path); err != nil {
		return "", errs.Wrap(errs.NotFound, err, "nothing was measured of the run "+errs.Clip(run), "`macaron mint runs` lists runs; a metrics.jsonl can be named too")
	}
	return path, nil
}

func newMintWatch(e *env) *cobra.Command {
	var steps int
	var once bool
	c := &cobra.Command{Use: "watch RUN", Short: "Show what is measured of a training run, as it comes", Args: args(1, 1, "a training run, or a metrics.jsonl"),
		Long: "Prints a line for each optimizer step until it is interrupted: loss, reward, KL, tokens per second, memory; with --steps, the time that is left until then.\nWith --json the lines are those of the file (docs/formats/metrics.md).",
		RunE: func(cmd *cobra.Command, given []string) error {
			path, err := e.curveFile(cmd, given[0])
			if err != nil {
				return err
			}
			return e.follow(cmd.Context(), path, steps, once)
		}}
	c.Flags().IntVar(&steps, "steps", 0, "steps that the run will have, for the time that is left; it ends there")
	c.Flags().BoolVar(&once, "once", false, "show what there is, and end")
	return c
}

// follow prints lines as they come.
func (e *env) follow(ctx context.Context, path string, steps int, once bool) error {
	for at := int64(0); ; {
		lines, next, err := curve.Read(path, at, 1000)
		if err != nil {
			return err
		}
		at = next
		for _, l := range lines {
			if err := e.printLine(l, steps); err != nil {
				return err
			}
			if steps > 0 && int(l["step"]) >= steps {
				return nil
			}
		}
		if once && len(lines) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(300 * time.Millisecond):
		}
	}
}

func (e *env) printLine(l curve.Line, steps int) error {
	if e.json {
		return e.printJSON(l)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "step %d", int(l["step"]))
	if steps > 0 {
		fmt.Fprintf(&out, "/%d", steps)
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
	if left := time.Duration(l["seconds"] * float64(steps-int(l["step"])) * float64(time.Second)); left > 0 {
		fmt.Fprintf(&out, ", %s left", left.Round(time.Second))
	}
	_, err := fmt.Fprintln(e.out, out.String())
	return disk.Error(err, "the output cannot be written")
}

func newMintMetrics(e *env) *cobra.Command {
	var root string
	c := &cobra.Command{Use: "mlflow RUN", Short: "Write a training run into a tree that MLflow reads", Args: args(1, 1, "a training run, or a metrics.jsonl"),
		Example: "  macaron mint mlflow ses_01K...:train:0 --out mlruns\n  mlflow ui --backend-store-uri mlruns",
		RunE: func(cmd *cobra.Command, given []string) error {
			path, err := e.curveFile(cmd, given[0])
			if err != nil {
				return err
			}
			lines, _, err := curve.Read(path, 0, 1<<20)
			if err != nil {
				return err
			}
			dir, err := curve.MLflow(root, given[0], lines)
			if err != nil {
				return err
			}
			if e.json {
				return e.printJSON(map[string]any{"dir": dir, "lines": len(lines)})
			}
			_, err = fmt.Fprintln(e.out, dir)
			return disk.Error(err, "the output cannot be written")
		}}
	c.Flags().StringVar(&root, "out", "mlruns", "directory of the tree")
	return c
}
