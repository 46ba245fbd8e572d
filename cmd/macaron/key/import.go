package key

import (
	"fmt"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/auth"
	"macaron/internal/errs"
)

func newKeyImport(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Put the keys of a file in the place of those of this home",
		Long: "Takes another home's keys/keys.toml, which has no secrets, so that several servers let the same\n" +
			"clients in. The keys that this home has are replaced; what was used of budgets stays each home's own.",
		Example: "  macaron key import /run/secrets/keys.toml",
		Args:    cli.Args(1, 1, "the name of a file of keys"),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := auth.ReadKeys(args[0])
			if err != nil {
				return err
			}
			if len(all.Keys) == 0 {
				return errs.New(errs.FormatInvalid, args[0]+" has no keys", "name the keys/keys.toml of a home that has some")
			}
			m, err := keys(e)
			if err != nil {
				return err
			}
			if err := m.Store.Change(cmd.Context(), func(k *auth.Keys) error { *k = *all; return nil }); err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(map[string]any{"keys": len(all.Keys), "tenants": len(all.Tenants)})
			}
			fmt.Fprintf(e.Out, "%d keys and %d tenants are in force\n", len(all.Keys), len(all.Tenants))
			return nil
		},
	}
}
