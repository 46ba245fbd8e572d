package mint

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/mint/ledger"
	"macaron/internal/train/curve"
	"macaron/internal/train/recipe"
)

func newMintMetrics(e *cli.Env) *cobra.Command {
	var root string
	c := &cobra.Command{Use: "mlflow RUN", Short: "Write a training run into a tree that MLflow reads", Args: cli.Args(1, 1, "a training run, a metrics.jsonl or a work directory"),
		Example: "  macaron mint mlflow ses_01K...:train:0 --out mlruns\n  mlflow ui --backend-store-uri mlruns",
		RunE: func(cmd *cobra.Command, given []string) error {
			at, err := curvesOf(e, cmd, given[0])
			if err != nil {
				return err
			}
			trains, err := at.train(e, cmd) // before its lines are read, so that an end has them all
			if err != nil {
				return err
			}
			lines, _, err := curve.Read(at.path, 0, 1<<20)
			if err != nil {
				return err
			}
			dir, err := curve.MLflow(root, cmp.Or(at.run, at.path), lines, trains)
			if err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(map[string]any{"dir": dir, "lines": len(lines)})
			}
			_, err = fmt.Fprintln(e.Out, dir)
			return disk.Error(err, "the output cannot be written")
		}}
	c.Flags().StringVar(&root, "out", "mlruns", "directory of the tree")
	return c
}

// train tells whether a run still trains: one of the home until it is unloaded or its session ends,
// one of a recipe while a process has its work directory.
func (c curves) train(e *cli.Env, cmd *cobra.Command) (trains bool, err error) {
	if c.run == "" {
		return recipe.Trains(filepath.Dir(c.path)), nil
	}
	err = e.WithStore(cmd.Context(), func(s app.Store) error {
		m, err := s.Mint().Model(cmd.Context(), Tenant(cmd), c.run)
		var session ledger.Session
		if err == nil {
			session, err = s.Mint().Session(cmd.Context(), Tenant(cmd), m.Session)
		}
		if errs.CodeOf(err) == errs.NotFound { // removed
			return nil
		}
		trains = err == nil && !m.Unloaded && !m.Corrupted && session.Ended.IsZero()
		return err
	})
	return trains, err
}
