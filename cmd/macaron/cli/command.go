package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"macaron/internal/config"
	"macaron/internal/errs"
)

// Settings offers every setting of config as a flag; only flags that were given count.
func Settings(root *cobra.Command, e *Env) {
	e.Flags = map[string]string{}
	for _, f := range config.Fields() {
		if f.Flag == "" {
			continue
		}
		root.PersistentFlags().Func(f.Flag, f.Help, func(v string) error {
			e.Flags[f.Key] = v
			return nil
		})
	}
}

// NoArgs refuses arguments where none are taken, most often a mistyped command.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return errs.New(errs.InvalidRequest, fmt.Sprintf("%s does not take %.80q", cmd.CommandPath(), args[0]), cmd.CommandPath()+" --help lists the commands and flags")
}

// Args refuses another number of arguments than low to high.
func Args(low, high int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if len(given) >= low && len(given) <= high {
			return nil
		}
		return errs.New(errs.InvalidRequest, fmt.Sprintf("%s takes %s, %d arguments were given", cmd.CommandPath(), what, len(given)), cmd.CommandPath()+" --help shows an example")
	}
}

// Noun is a command that only groups verbs.
func Noun(use, short string, verbs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(verbs...)
	return c
}
