package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/errs"
	"macaron/internal/turn"
)

func newRouteExplain(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "explain ID",
		Short: "Show why a turn of the log went to its adapter",
		Long: "Tell from the log alone what the router saw of a turn, what it answered and what was made\n" +
			"of it. ID is of the turn, of one of its hops, or of the request. No model is asked.",
		Example: "  macaron route explain trn_01J9ZC6Q0W4X7S8M2F5B3A1K9D",
		Args:    cli.Args(1, 1, "the id of a turn, hop or request"),
		RunE: func(cmd *cobra.Command, given []string) error {
			return e.WithServer(cmd, func(ctx context.Context, c *cli.Client) error { return routeExplain(ctx, e, c, given[0]) })
		},
	}
}

func routeExplain(ctx context.Context, e *cli.Env, c *cli.Client, id string) error {
	resp, err := c.Get(ctx, "/admin/route/"+url.PathEscape(id))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var x turn.Explanation
	if err := json.NewDecoder(io.LimitReader(resp.Body, 16<<20)).Decode(&x); err != nil {
		return errs.Wrap(errs.UpstreamFailed, err, "the server gave an answer that cannot be read", "see whether it is of the same version")
	}
	if e.JSON {
		return e.PrintJSON(x)
	}
	tellRoute(e, x)
	return nil
}

func tellRoute(e *cli.Env, x turn.Explanation) {
	fmt.Fprintf(e.Out, "%s went to %s (%s%s)\n", x.Turn, x.Adapter, x.Reason, because(x.Cause))
	if x.Preferred != "" {
		fmt.Fprintf(e.Out, "  the router named %s (min_probability %g, sticky_margin %g)\n", x.Preferred, x.MinProbability, x.StickyMargin)
	}
	for _, l := range byProbability(x.Probabilities) {
		fmt.Fprintf(e.Out, "  %-8s %6.2f%%\n", l, 100*x.Probabilities[l])
	}
	fmt.Fprintf(e.Out, "opened    %s, session %s, request %s\n", x.Opened.Format("2006-01-02 15:04:05"), x.Session, cli.OrDash(x.Request))
	fmt.Fprintf(e.Out, "labels    %s%s\n", strings.Join(x.Labels, " "), shortlisted(x))
	fmt.Fprintf(e.Out, "contract  %s\nrevision  %s\n", x.Contract, cli.OrDash(string(x.Revision)))
	if x.Cost != nil {
		fmt.Fprintf(e.Out, "asked     %s %s, hop %s: %d tokens (%d cached), %.1f ms\n", x.Engine.Name, x.Engine.Version, x.Hop, x.Cost.PromptTokens, x.Cost.CachedTokens, x.Cost.TotalMS)
	}
	if x.Error != "" {
		fmt.Fprintf(e.Out, "failed    %s: %s\n", x.Error, x.Detail)
	}
	if len(x.Prompt) == 0 {
		fmt.Fprintf(e.Out, "no router was asked; the request was %q\n", x.Text)
	}
	for _, m := range x.Prompt {
		fmt.Fprintf(e.Out, "%s:\n  %s\n", m.Role, strings.ReplaceAll(m.Text, "\n", "\n  "))
	}
	if x.Clipped {
		fmt.Fprintf(e.Out, "the request has %d characters; its middle was cut\n", x.Runes)
	}
}

func shortlisted(x turn.Explanation) string {
	if x.RankedBy == "" {
		return ""
	}
	return fmt.Sprintf(" (shortlist of %d, %s)", x.Shortlist, x.RankedBy)
}
