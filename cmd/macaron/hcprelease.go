package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"macaron/internal/contract"
	"macaron/internal/registry"
)

func newHCPRelease(e *env) *cobra.Command {
	return &cobra.Command{Use: "release [FILE]", Short: "Name a release: one base, one revision of each specialist, one harness", Args: args(0, 1, "a contract's file"),
		RunE: func(_ *cobra.Command, given []string) error {
			c, err := e.config()
			if err != nil {
				return err
			}
			path, err := e.contractPath(given)
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
			return e.showRelease(r, string(hash))
		}}
}

func (e *env) showRelease(r contract.Release, hash string) error {
	if e.json {
		return e.printJSON(map[string]any{"hash": hash, "release": r})
	}
	fmt.Fprintln(e.out, hash)
	rows := [][]string{{"base", r.Base}, {"harness", string(r.Harness)}}
	for _, s := range r.Specialists {
		rows = append(rows, []string{s.Label, string(s.Revision)})
	}
	return e.table(rows...)
}
