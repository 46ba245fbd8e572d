package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"macaron/internal/config"
	"macaron/internal/errs"
)

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
