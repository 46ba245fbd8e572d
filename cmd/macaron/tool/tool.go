// Package tool is `macaron tool`: the tools that runs have kept.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/obs"
	"macaron/internal/record"
	"macaron/internal/toolshed"
)

// New gives the commands of tool.
func New(e *cli.Env) *cobra.Command {
	var owner string
	c := cli.Noun("tool", "Keep and judge tools that agents have written",
		newToolList(e, &owner), newToolShow(e, &owner), newToolSave(e, &owner), newToolPromote(e, &owner), newToolDemote(e, &owner))
	c.PersistentFlags().StringVar(&owner, "tenant", auth.Local, "whose tools")
	return c
}

// WithToolbox opens the log and what tools are made of for one command.
func WithToolbox(ctx context.Context, e *cli.Env, do func(*app.Toolbox) error) error {
	c, err := e.Config()
	if err != nil {
		return err
	}
	return WithTools(ctx, e, c, func(t *app.Toolbox, _ app.Store, _ *ids.Source) error { return do(t) })
}

// WithTools is withToolbox for who needs the log, too. A home that is not there is made.
func WithTools(ctx context.Context, e *cli.Env, c config.Config, do func(*app.Toolbox, app.Store, *ids.Source) error) error {
	if err := os.MkdirAll(c.Home, 0o700); err != nil {
		return disk.Error(err, c.Home+" cannot be made")
	}
	return e.WithStore(ctx, func(s app.Store) error {
		i := ids.NewSource(clock.System{}, nil)
		t := app.NewToolbox(c, s, obs.NewLog(e.Err, c.Log.Level, c.Log.Format), clock.System{}, i)
		return errors.Join(do(t, s, i), t.Close())
	})
}

func newToolList(e *cli.Env, owner *string) *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List saved tools and how they stand", Args: cli.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return WithToolbox(cmd.Context(), e, func(t *app.Toolbox) error {
			all, err := t.Shed.List(cmd.Context(), *owner)
			if err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(map[string]any{"tools": append([]toolshed.Entry{}, all...)})
			}
			rows := [][]string{{"NAME", "STATUS", "EFFECT", "USES", "WENT WELL", "TOOL"}}
			for _, x := range all {
				rows = append(rows, []string{x.Saved.Name, string(x.Status), x.Saved.Effect, fmt.Sprint(x.Uses), fmt.Sprint(x.Successes), string(x.Tool)})
			}
			return e.Table(rows...)
		})
	}}
}

// onTool runs one command on the tool that its argument names and shows the tool then.
func onTool(e *cli.Env, cmd *cobra.Command, given string, do func(*app.Toolbox, ids.Digest) (toolshed.Entry, error)) error {
	digest, err := ids.ParseDigest(given)
	if err != nil {
		return err
	}
	return WithToolbox(cmd.Context(), e, func(t *app.Toolbox) error {
		x, err := do(t, digest)
		if err != nil {
			return err
		}
		return showTool(e, x)
	})
}

func newToolShow(e *cli.Env, owner *string) *cobra.Command {
	return &cobra.Command{Use: "show DIGEST", Short: "Show a tool, its judgements and how its calls went", Args: cli.Args(1, 1, "the tool's digest"), RunE: func(cmd *cobra.Command, given []string) error {
		return onTool(e, cmd, given[0], func(t *app.Toolbox, d ids.Digest) (toolshed.Entry, error) {
			return t.Shed.Show(cmd.Context(), *owner, d)
		})
	}}
}

func newToolSave(e *cli.Env, owner *string) *cobra.Command {
	return &cobra.Command{Use: "save FILE", Short: "Keep a tool, for its tenant alone", Args: cli.Args(1, 1, "a file of JSON; docs/TOOLSHED.md"), RunE: func(cmd *cobra.Command, given []string) error {
		b, err := os.ReadFile(given[0])
		if err != nil {
			return disk.OpenError(err, given[0]+" cannot be read", "name a file")
		}
		written, err := record.WrittenTool(b, "")
		if err != nil {
			return errs.Wrap(errs.FormatInvalid, err, given[0]+" is no tool: "+errs.As(err).Message, `it is {"name": ..., "source": ..., "effect": ...}; docs/TOOLSHED.md`)
		}
		return WithToolbox(cmd.Context(), e, func(t *app.Toolbox) error {
			x, err := t.Shed.Save(cmd.Context(), *owner, written)
			if err != nil {
				return err
			}
			return showTool(e, x)
		})
	}}
}

func newToolPromote(e *cli.Env, owner *string) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "promote DIGEST --cases FILE", Short: "Judge a tool by cases that its author has not seen", Args: cli.Args(1, 1, "the tool's digest"),
		Long: "Runs the tool on the cases in fresh sandboxes, and faulty copies of it, and the tools that were promoted\n" +
			"before beside it. The judgement is on record either way; the exit code is 0 only if it was promoted.",
		Example: "  macaron tool promote sha256:... --cases held-out.json",
		RunE: func(cmd *cobra.Command, given []string) error {
			b, err := os.ReadFile(file)
			if err != nil {
				return errs.Wrap(errs.InvalidRequest, err, "--cases names no file that can be read", "docs/TOOLSHED.md says what is in it")
			}
			set, err := toolshed.ParseSet(b)
			if err != nil {
				return err
			}
			known, err := declaredTools(e)
			if err != nil {
				return err
			}
			return onTool(e, cmd, given[0], func(t *app.Toolbox, d ids.Digest) (toolshed.Entry, error) {
				x, err := t.Shed.Promote(cmd.Context(), *owner, d, set, known)
				if err != nil {
					return x, err
				}
				if j := x.Judgements[len(x.Judgements)-1]; !j.Passed {
					return x, errs.New(errs.Forbidden, x.Saved.Name+" is not promoted: "+j.Reason, "macaron tool show "+given[0]+" tells more")
				}
				return x, nil
			})
		},
	}
	c.Flags().StringVar(&file, "cases", "", "file of held-out cases (required)")
	return c
}

// declaredTools are the names of the contract's tools that code could call: a tool that is
// judged must not call those that it does not declare. Without a contract there are none.
func declaredTools(e *cli.Env) ([]string, error) {
	c, err := e.Config()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(c.Contract); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	what, err := contract.Load(c.Contract)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range what.Tools {
		names = append(names, t.Name)
	}
	return names, nil
}

func newToolDemote(e *cli.Env, owner *string) *cobra.Command {
	var reason string
	c := &cobra.Command{Use: "demote DIGEST", Short: "Take a promotion back", Args: cli.Args(1, 1, "the tool's digest"), RunE: func(cmd *cobra.Command, given []string) error {
		return onTool(e, cmd, given[0], func(t *app.Toolbox, d ids.Digest) (toolshed.Entry, error) {
			return t.Shed.Demote(cmd.Context(), *owner, d, reason)
		})
	}}
	c.Flags().StringVar(&reason, "reason", "demoted by macaron tool demote", "the reason, which stays in the log")
	return c
}

func showTool(e *cli.Env, x toolshed.Entry) error {
	if e.JSON {
		return e.PrintJSON(x)
	}
	written := ""
	if x.Saved.Trajectory != "" {
		written = "written in " + x.Saved.Trajectory + "\n"
	}
	fmt.Fprintf(e.Out, "%s  %s, %s\n%s\n%s\n%s\n", x.Saved.Name, x.Status, x.Saved.Effect, x.Tool, written, x.Saved.Source)
	for _, j := range x.Judgements {
		verdict := "passed"
		if !j.Passed {
			verdict = "did not pass: " + j.Reason
		}
		fmt.Fprintf(e.Out, "%s  %s; %d of %d cases failed, %d of %d faulty copies told, %d of %d cases of other tools failed\n", j.Judgement, verdict, j.Failed, j.Tried, j.Killed, j.Mutants, j.Regressed, j.Regression)
	}
	for _, d := range x.Demotions {
		fmt.Fprintf(e.Out, "demoted: %s\n", d)
	}
	if x.Uses > 0 {
		b, err := json.Marshal(x.Wealth)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.Out, "%d calls, %d went well; wealth against it %s of 200\n", x.Uses, x.Successes, b)
	}
	return nil
}
