package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/auth"
	"macaron/internal/bench"
	"macaron/internal/bench/harbor"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/trajectory"
)

func newBenchHarbor(e *cli.Env) *cobra.Command {
	var agent, out, packages string
	var seed uint64
	c := &cobra.Command{
		Use: "harbor DIR", Short: "Run a task directory in Harbor's format", Args: cli.Args(1, 1, "a task directory"),
		Long: "Build the task's environment in a sandbox of this machine, let the agent work in it, and score with the task's own verifier.\n" +
			"Agents: model (the one that is configured), oracle (the task's solution), none (nothing is done).",
		Example: "  macaron bench harbor ./task --agent oracle\n  macaron bench harbor ./task --out ./trial",
		RunE: func(cmd *cobra.Command, given []string) error {
			t, err := harbor.Read(given[0])
			if err != nil {
				return err
			}
			if agent != "model" && agent != "oracle" && agent != "none" {
				return errs.New(errs.InvalidRequest, fmt.Sprintf("%.40q is no agent", agent), "use model, oracle or none")
			}
			var shown harbor.Packages
			if packages != "" {
				if shown, err = harbor.OpenPackages(packages); err != nil {
					return err
				}
			}
			return withBench(e, cmd, func(ctx context.Context, d harness.Deps, _ bench.Policy) error {
				return trial(ctx, e, t, d, agent, out, seed, shown)
			})
		},
	}
	c.Flags().StringVar(&agent, "agent", "model", "model, oracle or none")
	c.Flags().StringVar(&out, "out", "", "new directory of the trial; DIR-trial in the working directory by default")
	c.Flags().StringVar(&packages, "packages", "", "directory of Python packages (pip install --target) for the verifier, instead of those of the image")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of sampling")
	return c
}

func trial(ctx context.Context, e *cli.Env, t *harbor.Task, d harness.Deps, agent, out string, seed uint64, given harbor.Packages) error {
	if out == "" {
		out = t.Name + "-trial"
	}
	if err := os.Mkdir(out, 0o755); err != nil {
		return disk.Error(err, out+" cannot be made")
	}
	dir, err := filepath.Abs(out)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return disk.Error(err, out+" cannot be found")
	}
	pool, err := d.Pool(ctx)
	if err != nil {
		return err
	}
	tr, err := harbor.Open(ctx, t, pool, dir, given)
	if err != nil {
		return err
	}
	run := ""
	switch agent {
	case "oracle":
		err = tr.Oracle(ctx)
	case "model":
		run, err = act(ctx, e, tr, d, seed)
	}
	if err != nil {
		return err
	}
	r, err := tr.Verify(ctx)
	if err != nil {
		return err
	}
	r.Agent, r.Run = agent, run
	if err := keepJSON(filepath.Join(dir, "result.json"), r); err != nil {
		return err
	}
	if e.JSON {
		return e.PrintJSON(r)
	}
	fmt.Fprintf(e.Out, "%s: reward %g, in %s\n", r.Task, r.Reward, out)
	for _, n := range r.Notes {
		fmt.Fprintf(e.Err, "note: %s\n", n)
	}
	return nil
}

// act lets the model work, and keeps what it did as an ATIF document.
func act(ctx context.Context, e *cli.Env, tr *harbor.Trial, d harness.Deps, seed uint64) (string, error) {
	rep, err := tr.Act(ctx, d, auth.Local, seed)
	if err != nil {
		return "", err
	}
	run, err := harness.New(d).Transcript(ctx, auth.Local, rep.RunID)
	if err != nil {
		return "", err
	}
	return rep.RunID, keepJSON(filepath.Join(tr.Dir, "trajectory.json"), trajectory.ATIF(run, cli.Version))
}

func keepJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = os.WriteFile(path, append(b, '\n'), 0o600)
	}
	return disk.Error(err, path+" cannot be written")
}
