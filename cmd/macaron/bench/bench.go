// Package bench is `macaron bench`: measurements of the model behind the product, and of UI4A.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/bench"
	"macaron/internal/bench/bfcl"
	"macaron/internal/bench/flow"
	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/record"
)

// New gives the commands of bench.
func New(e *cli.Env) *cobra.Command {
	return cli.Noun("bench", "Measure a model on suites of tasks", newBenchRun(e), newBenchHarbor(e), newBenchUI4A(e), newBenchReport(e))
}

// benchRun is the flags of macaron bench run.
type benchRun struct {
	out, modes, salt, split string
	wheels, python, parts   string
	windows, depth, tasks   int
	seed                    uint64
	within                  time.Duration
	limits                  record.RunLimits
}

func newBenchRun(e *cli.Env) *cobra.Command {
	var b benchRun
	c := &cobra.Command{
		Use: "run SUITE...", Short: "Run suites in each mode and print the tables", Args: cli.Args(1, 2, "suites: flow, bfcl"),
		Long: "Run the tasks of suites through the harness with the model that is configured, in each mode, and keep every outcome in\n" +
			"a file: a command that is given again goes on where the file ends. No server may use the same home.",
		Example: "  macaron bench run flow --windows 4 --out flow.jsonl\n  macaron bench run bfcl flow --tasks 5 --out both.jsonl\n  macaron bench run flow --modes functions,repl --depth 2 --within 10m --out flow.jsonl",
		RunE: func(cmd *cobra.Command, suites []string) error {
			return withBench(e, cmd, func(ctx context.Context, d harness.Deps, p bench.Policy) error {
				return measure(ctx, e, b, suites, d, p)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&b.out, "out", "bench.jsonl", "file of outcomes")
	f.StringVar(&b.modes, "modes", "functions,repl,hybrid", "ways to act")
	f.Uint64Var(&b.seed, "seed", 1, "seed of sampling and of Python")
	f.DurationVar(&b.within, "within", 0, "begin no task after this time; 0: no bound")
	f.StringVar(&b.salt, "salt", "macaron", "of flow: names the world")
	f.IntVar(&b.windows, "windows", 4, "of flow: tasks of each family")
	f.IntVar(&b.depth, "depth", 0, "of flow: at most so many calls one behind the other; 0: all")
	f.StringVar(&b.split, "split", "", "of flow: seen, new_window, new_family or held_out; all by default")
	f.StringVar(&b.wheels, "bfcl", "", "of bfcl: directory of its wheels; where make testdata has put them by default")
	f.StringVar(&b.python, "python", "/usr/bin/python3", "of bfcl: Python 3.10 or newer, for its checkers")
	f.StringVar(&b.parts, "categories", strings.Join(bfcl.Categories, ","), "of bfcl: which")
	f.IntVar(&b.tasks, "tasks", 20, "of bfcl: tasks of each category; 0: all")
	f.IntVar(&b.limits.Turns, "max-turns", 0, "model calls of a run at most; like the next ones, it lowers the measurement's bound")
	f.IntVar(&b.limits.Tokens, "max-tokens", 0, "tokens of all model calls at most")
	f.Int64Var(&b.limits.WallMS, "max-wall-ms", 0, "milliseconds of a run at most")
	return c
}

func newBenchReport(e *cli.Env) *cobra.Command {
	return &cobra.Command{Use: "report FILE", Short: "Print the tables of a file of outcomes", Args: cli.Args(1, 1, "a file of macaron bench run"), RunE: func(_ *cobra.Command, given []string) error {
		l, err := bench.ReadLog(given[0])
		if err != nil {
			return err
		}
		return printReport(e, l)
	}}
}

func printReport(e *cli.Env, l *bench.Log) error {
	if e.JSON {
		return e.PrintJSON(l.Report())
	}
	_, err := io.WriteString(e.Out, l.Report().Markdown())
	return disk.Error(err, "the output cannot be written")
}

// withBench loads the configured model in this process, without serving.
func withBench(e *cli.Env, cmd *cobra.Command, do func(context.Context, harness.Deps, bench.Policy) error) error {
	return e.WithApp(cmd, func(ctx context.Context, a *app.App) error {
		d, p, err := a.Bench(ctx)
		if err != nil {
			return err
		}
		return do(ctx, d, p)
	})
}

func measure(ctx context.Context, e *cli.Env, b benchRun, names []string, d harness.Deps, p bench.Policy) error {
	plan := bench.Plan{Clock: clock.System{}, Within: b.within, Told: func(r bench.Row) { tellRow(e, r) }}
	engine := d.Generator.Capabilities().Engine
	pins := bench.Pins{Contract: p.Made.Hash(), Adapter: p.Revision.Hash, Engine: engine.Name + " " + engine.Version, Model: p.Made.Model.Base, Seed: b.seed, Limits: b.limits, Suites: map[string]string{}}
	for _, name := range names {
		s, about, done, err := b.suite(ctx, name)
		if err != nil {
			return err
		}
		defer done() // nothing of it is needed any more
		plan.Suites, pins.Suites[name] = append(plan.Suites, s), about
	}
	for _, m := range strings.Split(b.modes, ",") {
		switch mode := contract.Mode(m); mode {
		case contract.Functions, contract.REPL, contract.Hybrid:
			plan.Modes = append(plan.Modes, mode)
		default:
			return errs.New(errs.InvalidRequest, fmt.Sprintf("%.40q is no mode", m), "use functions, repl and hybrid")
		}
	}
	if err := os.MkdirAll(filepath.Dir(b.out), 0o755); err != nil {
		return disk.Error(err, "the directory of "+b.out+" cannot be made")
	}
	l, err := bench.OpenLog(b.out, pins)
	if err != nil {
		return err
	}
	err = bench.Measure(ctx, bench.Runner{Deps: d, Owner: auth.Local, Seed: b.seed, Limit: b.limits}, plan, l)
	if err == nil {
		err = printReport(e, l)
	}
	return errors.Join(err, l.Close())
}

// suite makes a suite, and says what it was made of. Done lets go of what it holds.
func (b benchRun) suite(ctx context.Context, name string) (s bench.Suite, about string, done func(), err error) {
	switch name {
	case "flow":
		switch split := flow.Split(b.split); split {
		case "", flow.Seen, flow.NewWindow, flow.NewFamily, flow.HeldOut:
			s := flow.NewSuite(b.salt, b.windows, b.depth, split)
			return s, fmt.Sprintf("salt %s, windows %d, depth %d, split %q", b.salt, b.windows, b.depth, b.split), func() {}, nil
		}
		return nil, "", nil, errs.New(errs.InvalidRequest, fmt.Sprintf("%.40q is no split", b.split), "use seen, new_window, new_family or held_out")
	case "bfcl":
		return b.functionCalling(ctx)
	}
	return nil, "", nil, errs.New(errs.InvalidRequest, fmt.Sprintf("%.40q is no suite", name), "use flow or bfcl")
}

func (b benchRun) functionCalling(ctx context.Context) (s bench.Suite, about string, done func(), err error) {
	dir := b.wheels
	if dir == "" {
		if dir, err = bfcl.Dir(); err != nil {
			return nil, "", nil, err
		}
	}
	w, err := bfcl.Start(ctx, b.python, dir)
	if err != nil {
		return nil, "", nil, err
	}
	done = func() { _ = w.Close() } // only the process is left
	made, err := bfcl.NewSuite(w, strings.Split(b.parts, ","), b.tasks)
	if err != nil {
		done()
		return nil, "", nil, err
	}
	return made, fmt.Sprintf("%s %s, categories %s, tasks of each %d", bfcl.Wheels[0].Package, bfcl.Wheels[0].Version, b.parts, b.tasks), done, nil
}

// tellRow says on standard error what came of a task.
func tellRow(e *cli.Env, r bench.Row) {
	fmt.Fprintf(e.Err, "%-9s %-9s %-34s %.0f  %s, %d turns, %d calls, %.1f s  %s\n", r.Suite, r.Mode, r.Task, r.Points, r.Status, r.Turns, r.Calls, float64(r.WallMS)/1000, r.Note+r.Failure)
}
