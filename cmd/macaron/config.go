package main

import "github.com/spf13/cobra"

func newConfig(e *env) *cobra.Command {
	return noun("config", "Show the settings of this machine", &cobra.Command{
		Use: "show", Short: "List every setting, its value and where it came from", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := e.config()
			if err != nil {
				return err
			}
			if e.json {
				return e.printJSON(c.Show())
			}
			lines := [][]string{{"SETTING", "VALUE", "FROM", "WHAT IT IS"}}
			for _, s := range c.Show() {
				lines = append(lines, []string{s.Key, orDash(s.Value), orDash(string(s.Origin)), s.Help})
			}
			return e.table(lines...)
		},
	})
}
