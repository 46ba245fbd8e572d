package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"macaron/internal/errs"
	"macaron/internal/turn"
)

func newRoute(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:     "route TEXT",
		Short:   "Show which specialist would take a request, and how surely",
		Long:    "Route a request without answering it: nothing is logged. Uses the Macaron that serves\nhere if one does, else the model in this process.",
		Example: "  macaron route 'write a loop in bash'\n  macaron --json route 'book a table for two'",
		Args:    args(1, 1, "the request as one text"),
		RunE: func(cmd *cobra.Command, given []string) error {
			return e.withServer(cmd, func(ctx context.Context, c *client) error { return e.route(ctx, c, given[0]) })
		},
	}
	c.AddCommand(newRouteExplain(e))
	return c
}

func (e *env) route(ctx context.Context, c *client, text string) error {
	resp, err := c.post(ctx, "/admin/route", map[string]string{"text": text})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var r turn.Report
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&r); err != nil {
		return errs.Wrap(errs.UpstreamFailed, err, "the server gave an answer that cannot be read", "see whether it is of the same version")
	}
	if e.json {
		return e.printJSON(r)
	}
	fmt.Fprintf(e.out, "%s (%s%s)\n", r.Adapter, r.Reason, because(r.Cause))
	for _, l := range byProbability(r.Probabilities) {
		p := r.Probabilities[l]
		fmt.Fprintf(e.out, "  %-8s %6.2f%%  %s\n", l, 100*p, strings.Repeat("#", int(p*40+0.5)))
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
