package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"macaron/internal/ui4a/library"
)

func newUI4APrompt(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "prompt",
		Short:   "Print the text that teaches a model to write cards",
		Long:    "Print the text that teaches a model to write cards, as {{ui4a}} in an adapter's prompt gives it.\nIts size in tokens goes to the standard error; --json has both.",
		Example: "  macaron ui4a prompt > prompt.txt\n  macaron --json ui4a prompt",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			tokens := library.Tokens().Tokens
			if e.json {
				return e.printJSON(map[string]any{"text": library.Prompt(), "tokens": tokens})
			}
			fmt.Fprintln(e.out, library.Prompt())
			for _, name := range slices.Sorted(maps.Keys(tokens)) {
				fmt.Fprintf(e.err, "%s: %s tokens\n", name, thousands(int64(tokens[name])))
			}
			return nil
		},
	}
}
