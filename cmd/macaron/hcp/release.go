package hcp

import (
	"fmt"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/contract"
	"macaron/internal/registry"
)

func newHCPRelease(e *cli.Env) *cobra.Command {
	return &cobra.Command{Use: "release [FILE]", Short: "Name a release: one base, one revision of each specialist, one harness", Args: cli.Args(0, 1, "a contract's file"),
		RunE: func(_ *cobra.Command, given []string) error {
			c, err := e.Config()
			if err != nil {
				return err
			}
			path, err := contractPath(e, given)
			if err != nil {
				return err
			}
			k, list, err := registry.Survey(c.Home, path)
			if err != nil {
				return err
			}
			var specialists []contract.Specialist
			base := k.Runtime.Base
			for _, a := range list {
				if a.Err != nil {
					return a.Err
				}
				specialists = append(specialists, contract.Specialist{Label: a.Name, Revision: a.Revision.Hash})
			}
			r, hash, err := contract.NewRelease(k, base, specialists)
			if err != nil {
				return err
			}
			return ShowRelease(e, r, string(hash))
		}}
}

// ShowRelease prints a release and its hash.
func ShowRelease(e *cli.Env, r contract.Release, hash string) error {
	if e.JSON {
		return e.PrintJSON(map[string]any{"hash": hash, "release": r})
	}
	fmt.Fprintln(e.Out, hash)
	rows := [][]string{{"base", r.Base}, {"harness", string(r.Harness)}}
	for _, s := range r.Specialists {
		rows = append(rows, []string{s.Label, string(s.Revision)})
	}
	return e.Table(rows...)
}
