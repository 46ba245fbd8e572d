package main

import (
	"context"

	"github.com/spf13/cobra"

	"macaron/internal/app"
	"macaron/internal/config"
	"macaron/internal/models"
)

func newUp(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Fetch and verify the model if it is missing, then serve everything",
		Long: "Start everything in the foreground: the model is fetched once and checked by SHA-256,\n" +
			"then the API and the chat page are served. Once the model is there no network is needed.",
		Example: "  macaron up\n  PORT=8081 macaron up",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := e.portIsFree(cmd.Context()); err != nil {
				return err
			}
			return e.withModel(cmd, func(c config.Config, m models.Local) error {
				return e.serve(cmd.Context(), c, m)
			})
		},
	}
}

// portIsFree tells a busy port before a model is fetched for nothing.
func (e *env) portIsFree(ctx context.Context) error {
	c, err := e.config()
	if err != nil {
		return err
	}
	l, err := app.Listen(ctx, c.Listen)
	if err != nil {
		return err
	}
	return l.Close()
}
