package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"macaron/internal/config"
	"macaron/internal/errs"
)

// env is what every command works with: the streams and the settings that the
// person gave as flags.
type env struct {
	in       io.Reader
	out, err io.Writer
	json     bool              // --json
	flags    map[string]string // setting -> value, only those given
	hurry    <-chan struct{}   // closed when who asked for a stop cannot wait for its end
}

// config reads the settings: file, then environment, then flags.
func (e *env) config() (config.Config, error) { return config.Load(e.flags) }

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

// settings offers every setting of config as a flag; only flags that were given count.
func settings(root *cobra.Command, e *env) {
	e.flags = map[string]string{}
	for _, f := range config.Fields() {
		if f.Flag == "" {
			continue
		}
		root.PersistentFlags().Func(f.Flag, f.Help, func(v string) error {
			e.flags[f.Key] = v
			return nil
		})
	}
}

// noArgs refuses arguments where none are taken, most often a mistyped command.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return errs.New(errs.InvalidRequest, fmt.Sprintf("%s does not take %.80q", cmd.CommandPath(), args[0]), cmd.CommandPath()+" --help lists the commands and flags")
}

// args refuses another number of arguments than low to high.
func args(low, high int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if len(given) >= low && len(given) <= high {
			return nil
		}
		return errs.New(errs.InvalidRequest, fmt.Sprintf("%s takes %s, %d arguments were given", cmd.CommandPath(), what, len(given)), cmd.CommandPath()+" --help shows an example")
	}
}

// noun is a command that only groups verbs.
func noun(use, short string, verbs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(verbs...)
	return c
}

// fail tells the person what happened and what to do next, and gives the exit code.
func (e *env) fail(err error) int {
	var told reported
	if errors.As(err, &told) {
		return told.code.Exit()
	}
	var end exit
	if errors.As(err, &end) {
		return end.code
	}
	c := errs.As(err)
	if e.json {
		// The process is about to end with the code: there is no one left to tell.
		_ = e.printJSON(map[string]any{"error": map[string]any{"code": c.Code, "message": c.Message, "next": c.Next, "field": c.Field}})
		return c.Code.Exit()
	}
	if c.Code == errs.Canceled {
		fmt.Fprintln(e.err, "macaron: stopped")
		return c.Code.Exit()
	}
	fmt.Fprintln(e.err, "macaron: "+plain(c.Message))
	if c.Code == errs.Internal && c.Err != nil {
		fmt.Fprintln(e.err, "  cause: "+plain(c.Err.Error()))
	}
	if c.Next != "" {
		fmt.Fprintln(e.err, "  next: "+strings.ReplaceAll(plain(c.Next), "\n", "\n  "))
	}
	return c.Code.Exit()
}
