package ui4a

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/ui4a/library"
)

func newUI4APrompt(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "prompt",
		Short:   "Print the text that teaches a model to write cards",
		Long:    "Print the text that teaches a model to write cards, as {{ui4a}} in an adapter's prompt gives it.\nIts size in tokens goes to the standard error; --json has both.",
		Example: "  macaron ui4a prompt > prompt.txt\n  macaron --json ui4a prompt",
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			tokens := library.Tokens().Tokens
			if e.JSON {
				return e.PrintJSON(map[string]any{"text": library.Prompt(), "tokens": tokens})
			}
			fmt.Fprintln(e.Out, library.Prompt())
			for _, name := range slices.Sorted(maps.Keys(tokens)) {
				fmt.Fprintf(e.Err, "%s: %s tokens\n", name, cli.Thousands(int64(tokens[name])))
			}
			return nil
		},
	}
}
