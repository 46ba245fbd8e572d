package serve

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/config"
	"macaron/internal/contract"
	"macaron/internal/models"
)

// NewUp gives `macaron up`.
func NewUp(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Fetch and verify the model if it is missing, then serve everything",
		Long: "Start everything in the foreground: the model is fetched once and checked by SHA-256,\n" +
			"then the API and the chat page are served. Once the model is there no network is needed.",
		Example: "  macaron up\n  PORT=8081 macaron up",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := Possible(cmd.Context(), e); err != nil {
				return err
			}
			return e.WithModel(cmd, func(c config.Config, m models.Local) error {
				return serve(cmd.Context(), e, c, m)
			})
		},
	}
}

// Possible tells a busy port and a contract that is not there or cannot be read, before a model is
// fetched or loaded for nothing.
func Possible(ctx context.Context, e *cli.Env) error {
	c, err := e.Config()
	if err != nil {
		return err
	}
	l, err := app.Listen(ctx, c.Listen)
	if err != nil {
		return err
	}
	_, err = contract.Load(c.Contract, c.Signed.Overlays...)
	return errors.Join(err, l.Close())
}
