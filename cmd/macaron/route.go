package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/errs"
	"macaron/internal/turn"
)

func newRoute(e *cli.Env) *cobra.Command {
	c := &cobra.Command{
		Use:     "route TEXT",
		Short:   "Show which specialist would take a request, and how surely",
		Long:    "Route a request without answering it: nothing is logged. Uses the Macaron that serves\nhere if one does, else the model in this process.",
		Example: "  macaron route 'write a loop in bash'\n  macaron --json route 'book a table for two'",
		Args:    cli.Args(1, 1, "the request as one text"),
		RunE: func(cmd *cobra.Command, given []string) error {
			return e.WithServer(cmd, func(ctx context.Context, c *cli.Client) error { return route(ctx, e, c, given[0]) })
		},
	}
	c.AddCommand(newRouteExplain(e))
	return c
}

func route(ctx context.Context, e *cli.Env, c *cli.Client, text string) error {
	resp, err := c.Post(ctx, "/admin/route", map[string]string{"text": text})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var r turn.Report
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&r); err != nil {
		return errs.Wrap(errs.UpstreamFailed, err, "the server gave an answer that cannot be read", "see whether it is of the same version")
	}
	if e.JSON {
		return e.PrintJSON(r)
	}
	fmt.Fprintf(e.Out, "%s (%s%s)\n", r.Adapter, r.Reason, because(r.Cause))
	for _, l := range byProbability(r.Probabilities) {
		p := r.Probabilities[l]
		fmt.Fprintf(e.Out, "  %-8s %6.2f%%  %s\n", l, 100*p, strings.Repeat("#", int(p*40+0.5)))
	}
	return nil
}

func because(cause string) string {
	if cause == "" {
		return ""
	}
	return ": " + cause
}

// byProbability lists the labels, the likeliest first.
func byProbability(p map[string]float64) []string {
	labels := make([]string, 0, len(p))
	for l := range p {
		labels = append(labels, l)
	}
	sort.Slice(labels, func(i, j int) bool {
		if p[labels[i]] != p[labels[j]] {
			return p[labels[i]] > p[labels[j]]
		}
		return labels[i] < labels[j]
	})
	return labels
}
