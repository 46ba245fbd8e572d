package forge

import (
	"fmt"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/cmd/macaron/mint"
	"macaron/internal/app"
	"macaron/internal/disk"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/report"
)

func newForgeReport(e *cli.Env) *cobra.Command {
	var to string
	c := &cobra.Command{
		Use: "report RUN", Short: "Tell what a run came to, from its ledger: a page, or JSON", Args: cli.Args(1, 1, "a run"),
		Example: "  macaron forge report night-1 --to night-1.html\n  macaron forge report night-1 --json",
		RunE: func(cmd *cobra.Command, given []string) error {
			return e.WithStore(cmd.Context(), func(s app.Store) error {
				r, err := report.Of(cmd.Context(), &ledger.Ledger{Store: s}, mint.Tenant(cmd), given[0])
				if err != nil {
					return err
				}
				if e.JSON {
					return e.PrintJSON(r)
				}
				page, err := r.HTML()
				if err != nil {
					return err
				}
				if err := disk.Replace(to, page, 0o644); err != nil {
					return err
				}
				fmt.Fprintln(e.Out, to)
				return nil
			})
		},
	}
	c.Flags().StringVar(&to, "to", "forge-report.html", "file that the page is written to")
	return c
}
