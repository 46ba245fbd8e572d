package main

import (
	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
)

func newConfig(e *cli.Env) *cobra.Command {
	return cli.Noun("config", "Show the settings of this machine", &cobra.Command{
		Use: "show", Short: "List every setting, its value and where it came from", Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := e.Config()
			if err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(c.Show())
			}
			lines := [][]string{{"SETTING", "VALUE", "FROM", "WHAT IT IS"}}
			for _, s := range c.Show() {
				lines = append(lines, []string{s.Key, cli.OrDash(s.Value), cli.OrDash(string(s.Origin)), s.Help})
			}
			return e.Table(lines...)
		},
	})
}
