package mint

import (
	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/cmd/macaron/serve"
	"macaron/internal/config"
	"macaron/internal/models"
)

func mintServe(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve the training service alone: the Tinker protocol under /api/v1",
		Long: "Serve the training service and its curves in the foreground, on the embedded engine and without\n" +
			"chat and runs; `macaron up` has it beside them. The model is fetched if it is missing; a contract\n" +
			"(macaron.toml) must be there.\n" +
			"Clients set TINKER_BASE_URL to the address that is printed.",
		Example: "  macaron mint serve\n  TINKER_BASE_URL=http://127.0.0.1:8080 TINKER_API_KEY=tml-local python train.py",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := serve.Possible(cmd.Context(), e); err != nil {
				return err
			}
			return e.WithModel(cmd, func(c config.Config, m models.Local) error {
				c.Mint.Enabled = true
				return serve.ServeAs(cmd.Context(), e, c, m, true)
			})
		},
	}
}
