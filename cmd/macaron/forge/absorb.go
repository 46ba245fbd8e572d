package forge

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/config"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge/loop"
	"macaron/internal/mindforge/update"
	"macaron/internal/models"
	"macaron/internal/obs"
)

// newForgeAbsorb moves one entry of the contract in force, or of a release's, into the adapter.
func newForgeAbsorb(e *cli.Env) *cobra.Command {
	var from string
	c := &cobra.Command{Use: "absorb FILE ENTRY", Short: "Move a line of a prompt or a skill of a contract into the adapter, and measure that", Args: cli.Args(2, 2, "a forge.toml, and an entry of the contract"),
		Long: "Train the adapter of the contract in force (the champion's, or the contract's file), or of the contract that --release names with its\nrevisions, so that it does without ENTRY what it does with it: a line of a prompt, such as agent.prompts.system#ID, or a skill, such as\nskills.NAME. Worlds, numbers of tasks and attempts, and the table update are those of FILE. The longer contract, and the shorter one before\nand after, are measured on families of validation;\n" +
			"where the shorter one passes about as often (update.margin), it becomes a release with the revision, which `macaron forge promote` serves.\nExit code 0: it did; 11: it did not, or there was nothing to learn.",
		Example: "  macaron forge absorb forge.toml agent.prompts.system#look-first\n  macaron forge absorb forge.toml skills.plan --release sha256:...",
		RunE: func(cmd *cobra.Command, given []string) error {
			release, err := releaseOf(from)
			if err != nil {
				return err
			}
			set, err := readForge(given[0])
			if err != nil {
				return err
			}
			set.Arm = loop.Full // it trains, whatever the file's run does
			return forActor(e, cmd, set.Actor, func(c config.Config, m models.Local) error {
				if err := os.MkdirAll(c.Home, 0o700); err != nil {
					return disk.Error(err, c.Home+" cannot be made")
				}
				f, err := app.OpenForge(cmd.Context(), c, set, "", app.Options{Version: cli.Version, Model: m, Log: obs.NewLog(e.Err, "error", c.Log.Format)})
				if err != nil {
					return err
				}
				return errors.Join(forgeAbsorb(cmd.Context(), e, f, release, given[1]), f.Close())
			})
		}}
	c.Flags().StringVar(&from, "release", "", "the hash of a release whose contract and revisions are begun with, in place of what is in force")
	return c
}

// releaseOf is a release's name; "": none was given.
func releaseOf(text string) (ids.Digest, error) {
	if text == "" {
		return "", nil
	}
	release, err := ids.ParseDigest(text)
	if err != nil {
		return "", errs.As(err).In("release")
	}
	return release, nil
}

func forgeAbsorb(ctx context.Context, e *cli.Env, f *app.ForgeRun, release ids.Digest, entry string) error {
	m, err := f.Absorb(ctx, release, entry, func(note string) {
		if !e.JSON {
			fmt.Fprintln(e.Err, note)
		}
	})
	if err != nil {
		return err
	}
	if err := ShowMoved(e, m); err != nil {
		return err
	}
	if !m.Kept {
		return cli.Exit(11)
	}
	return nil
}

// ShowMoved prints what moving an ability from the contract into the adapter did.
func ShowMoved(e *cli.Env, m loop.Moved) error {
	if e.JSON {
		return e.PrintJSON(m)
	}
	fmt.Fprintf(e.Out, "%d of %d attempts passed, %d of them without %s too\n", m.Passes, m.Attempts, m.Replayed, m.Entry)
	if m.Revision != "" {
		row := func(name string, x update.Measured) []string {
			return []string{name, fmt.Sprintf("%.3f [%.3f, %.3f]", x.Pass.Mean, x.Pass.Low, x.Pass.High), fmt.Sprint(x.Pass.N), fmt.Sprintf("%.0f", x.Prompt)}
		}
		if err := e.Table([]string{"contract", "passes", "attempts", "prompt tokens"}, row("with the entry", m.Long), row("without it, before", m.Before), row("without it, after", m.After)); err != nil {
			return err
		}
	}
	if !m.Kept {
		fmt.Fprintf(e.Out, "not kept: %s\n", m.Why)
		return nil
	}
	fmt.Fprintf(e.Out, "kept: %s; the revision is %s\n  macaron forge promote %s --reason \"%s is learned\"\n", m.Why, m.Revision, m.Release, m.Entry)
	return nil
}
