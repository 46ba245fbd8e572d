package main

import (
	"github.com/spf13/cobra"

	"macaron/internal/repl"
)

// newSandboxWorker is the other side of the starlark backend; this program starts it
// itself, on descriptors 3 and 4.
func newSandboxWorker() *cobra.Command {
	return &cobra.Command{
		Use: "sandbox-worker LIMITS", Hidden: true, Args: cobra.ExactArgs(1),
		Short: "Interpret the cells of one session (started by the starlark backend)",
		RunE: func(_ *cobra.Command, args []string) error {
			repl.WorkAsProcess(args[0])
			return nil
		},
	}
}
