package main

import (
	"context"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/cmd/macaron/tool"
	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/ids"
	"macaron/internal/mcp"
)

func newMCP(e *cli.Env) *cobra.Command {
	return cli.Noun("mcp", "Speak the Model Context Protocol", newMCPServe(e), newMCPList(e), newMCPAccept(e))
}

func newMCPServe(e *cli.Env) *cobra.Command {
	var owner string
	c := &cobra.Command{
		Use: "serve", Short: "Offer code, tools and sessions to a client, over standard input and output", Args: cli.NoArgs,
		Long: "A client starts this as its server. A running macaron offers the same at /mcp, as streamable HTTP.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := e.Config()
			if err != nil {
				return err
			}
			what, err := contract.Load(c.Contract)
			if err != nil {
				return err
			}
			return tool.WithTools(cmd.Context(), e, c, func(t *app.Toolbox, s app.Store, i *ids.Source) error {
				desk := app.Desk{Tools: t, Log: s, IDs: i, Clock: clock.System{}, Version: cli.Version,
					Contract: func(context.Context, string) (*contract.Contract, error) { return what, nil }}.Serve()
				defer desk.Close()
				return desk.Stdio(cmd.Context(), owner)
			})
		},
	}
	c.Flags().StringVar(&owner, "tenant", auth.Local, "whom the client acts for")
	return c
}

func newMCPList(e *cli.Env) *cobra.Command {
	return &cobra.Command{Use: "list SERVER", Short: "List the tools of a server of config.toml, and which have changed", Args: cli.Args(1, 1, "the server's name"), RunE: func(cmd *cobra.Command, given []string) error {
		return tool.WithToolbox(cmd.Context(), e, func(t *app.Toolbox) error {
			all, err := t.MCP.List(cmd.Context(), given[0])
			if err != nil {
				return err
			}
			return showMCP(e, all)
		})
	}}
}

func newMCPAccept(e *cli.Env) *cobra.Command {
	return &cobra.Command{Use: "accept SERVER [TOOL ...]", Short: "Accept a server's tools as they are now; all, if none is named", Args: cli.Args(1, 256, "the server's name, and tools"), RunE: func(cmd *cobra.Command, given []string) error {
		return tool.WithToolbox(cmd.Context(), e, func(t *app.Toolbox) error {
			all, err := t.MCP.Accept(cmd.Context(), given[0], given[1:]...)
			if err != nil {
				return err
			}
			return showMCP(e, all)
		})
	}}
}

func showMCP(e *cli.Env, all []mcp.Listed) error {
	if e.JSON {
		return e.PrintJSON(map[string]any{"tools": append([]mcp.Listed{}, all...)})
	}
	rows := [][]string{{"TOOL", "STATE", "EFFECT", "HASH"}}
	for _, l := range all {
		state := "accepted"
		if l.Pinned == "" {
			state = "never used"
		}
		if l.Changed() {
			state = "CHANGED"
		}
		rows = append(rows, []string{l.Name, state, string(l.Def.Effect), l.Hash.Short()})
	}
	return e.Table(rows...)
}
