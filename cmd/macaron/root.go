package main

import (
	"context"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/bench"
	"macaron/cmd/macaron/cli"
	"macaron/cmd/macaron/data"
	"macaron/cmd/macaron/doctor"
	"macaron/cmd/macaron/engine"
	"macaron/cmd/macaron/forge"
	"macaron/cmd/macaron/hcp"
	"macaron/cmd/macaron/key"
	"macaron/cmd/macaron/mint"
	"macaron/cmd/macaron/model"
	"macaron/cmd/macaron/run"
	"macaron/cmd/macaron/serve"
	"macaron/cmd/macaron/tool"
	"macaron/cmd/macaron/ui4a"
	"macaron/internal/errs"
)

// commands lists the sub-commands in the order of the help.
func commands(e *cli.Env) []*cobra.Command {
	return []*cobra.Command{
		serve.NewUp(e),
		serve.New(e),
		newChat(e),
		newRoute(e),
		model.New(e),
		model.NewAdapter(e),
		hcp.New(e),
		run.New(e),
		mint.NewTrain(e),
		ui4a.New(e),
		bench.New(e),
		newStorage(e),
		data.New(e),
		newBackup(e),
		newRestore(e),
		engine.New(e),
		tool.New(e),
		mint.New(e),
		forge.New(e),
		newMCP(e),
		key.New(e),
		doctor.New(e),
		doctor.NewHealth(e),
		newConfig(e),
		newMan(e),
		newSandboxWorker(),
		newVersion(e),
	}
}

// execute runs one command line and returns the exit code.
func execute(ctx context.Context, args []string, e *cli.Env) int {
	root := newRoot(e)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	return e.Fail(err)
}

func newRoot(e *cli.Env) *cobra.Command {
	root := &cobra.Command{
		Use:           "macaron",
		Short:         "A Mixture-of-LoRA assistant on one machine",
		Long:          "Macaron routes each request to one of several LoRA specialists of one small model,\nanswers, and remembers in short. `macaron up` starts everything.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cli.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return errs.New(errs.InvalidRequest, err.Error(), cmd.CommandPath()+" --help lists the flags")
	})
	root.PersistentFlags().BoolVar(&e.JSON, "json", false, "print JSON")
	cli.Settings(root, e)
	root.AddCommand(commands(e)...)
	return root
}
