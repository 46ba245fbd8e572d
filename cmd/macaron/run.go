package main

import "github.com/spf13/cobra"

func newRun(e *env) *cobra.Command {
	return noun("run", "Look at runs of agents", newRunShow(e), newRunExport(e))
}
