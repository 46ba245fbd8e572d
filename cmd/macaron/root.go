package main

import (
	"context"

	"github.com/spf13/cobra"

	"macaron/internal/errs"
)

// commands lists the sub-commands in the order of the help.
func commands(e *env) []*cobra.Command {
	return []*cobra.Command{
		newUp(e),
		newServe(e),
		newChat(e),
		newRoute(e),
		newModel(e),
		newAdapter(e),
		newHCP(e),
		newRun(e),
		newTrain(e),
		newUI4A(e),
		newBench(e),
		newStorage(e),
		newData(e),
		newBackup(e),
		newRestore(e),
		newEngine(e),
		newTool(e),
		newMint(e),
		newForge(e),
		newMCP(e),
		newKey(e),
		newDoctor(e),
		newHealth(e),
		newConfig(e),
		newMan(e),
		newSandboxWorker(),
		newVersion(e),
	}
}

// execute runs one command line and returns the exit code.
func execute(ctx context.Context, args []string, e *env) int {
	root := newRoot(e)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	return e.fail(err)
}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:           "macaron",
		Short:         "A Mixture-of-LoRA assistant on one machine",
		Long:          "Macaron routes each request to one of several LoRA specialists of one small model,\nanswers, and remembers in short. `macaron up` starts everything.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(e.in)
	root.SetOut(e.out)
	root.SetErr(e.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return errs.New(errs.InvalidRequest, err.Error(), cmd.CommandPath()+" --help lists the flags")
	})
	root.PersistentFlags().BoolVar(&e.json, "json", false, "print JSON")
	settings(root, e)
	root.AddCommand(commands(e)...)
	return root
}
