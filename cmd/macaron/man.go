package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"macaron/cmd/macaron/cli"
	"macaron/internal/disk"
)

func newMan(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages of every command", Args: cli.Args(1, 1, "a directory"),
		Example: "  macaron man /usr/local/share/man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return disk.Error(err, args[0]+" cannot be made")
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Section: "1", Source: "macaron " + cli.Version, Manual: "Macaron"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return disk.Error(err, "the manual pages cannot be written")
			}
			if e.JSON {
				return e.PrintJSON(map[string]any{"dir": args[0]})
			}
			return nil
		},
	}
}
