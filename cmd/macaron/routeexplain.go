package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"macaron/internal/errs"
	"macaron/internal/turn"
)

func newRouteExplain(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "explain ID",
		Short: "Show why a turn of the log went to its adapter",
		Long: "Tell from the log alone what the router saw of a turn, what it answered and what was made\n" +
			"of it. ID is of the turn, of one of its hops, or of the request. No model is asked.",
		Example: "  macaron route explain trn_01J9ZC6Q0W4X7S8M2F5B3A1K9D",
		Args:    args(1, 1, "the id of a turn, hop or request"),
		RunE: func(cmd *cobra.Command, given []string) error {
			return e.withServer(cmd, func(ctx context.Context, c *client) error { return e.routeExplain(ctx, c, given[0]) })
		},
	}
}

func (e *env) routeExplain(ctx context.Context, c *client, id string) error {
	resp, err := c.get(ctx, "/admin/route/"+url.PathEscape(id))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var x turn.Explanation
	if err := json.NewDecoder(io.LimitReader(resp.Body, 16<<20)).Decode(&x); err != nil {
		return errs.Wrap(errs.UpstreamFailed, err, "the server gave an answer that cannot be read", "see whether it is of the same version")
	}
	if e.json {
		return e.printJSON(x)
	}
	e.tellRoute(x)
	return nil
}

func (e *env) tellRoute(x turn.Explanation) {
	fmt.Fprintf(e.out, "%s went to %s (%s%s)\n", x.Turn, x.Adapter, x.Reason, because(x.Cause))
	if x.Preferred != "" {
		fmt.Fprintf(e.out, "  the router named %s (min_probability %g, sticky_margin %g)\n", x.Preferred, x.MinProbability, x.StickyMargin)
	}
	for _, l := range byProbability(x.Probabilities) {
		fmt.Fprintf(e.out, "  %-8s %6.2f%%\n", l, 100*x.Probabilities[l])
	}
	fmt.Fprintf(e.out, "opened    %s, session %s, request %s\n", x.Opened.Format("2006-01-02 15:04:05"), x.Session, orDash(x.Request))
	fmt.Fprintf(e.out, "labels    %s%s\n", strings.Join(x.Labels, " "), shortlisted(x))
	fmt.Fprintf(e.out, "contract  %s\nrevision  %s\n", x.Contract, orDash(string(x.Revision)))
	if x.Cost != nil {
		fmt.Fprintf(e.out, "asked     %s %s, hop %s: %d tokens (%d cached), %.1f ms\n", x.Engine.Name, x.Engine.Version, x.Hop, x.Cost.PromptTokens, x.Cost.CachedTokens, x.Cost.TotalMS)
	}
	if x.Error != "" {
		fmt.Fprintf(e.out, "failed    %s: %s\n", x.Error, x.Detail)
	}
	if len(x.Prompt) == 0 {
		fmt.Fprintf(e.out, "no router was asked; the request was %q\n", x.Text)
	}
	for _, m := range x.Prompt {
		fmt.Fprintf(e.out, "%s:\n  %s\n", m.Role, strings.ReplaceAll(m.Text, "\n", "\n  "))
	}
	if x.Clipped {
		fmt.Fprintf(e.out, "the request has %d characters; its middle was cut\n", x.Runes)
	}
}

func shortlisted(x turn.Explanation) string {
	if x.RankedBy == "" {
		return ""
	}
	return fmt.Sprintf(" (shortlist of %d, %s)", x.Shortlist, x.RankedBy)
}
