package data

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/disk"
	"macaron/internal/mint/filter"
)

func newDataReport(e *cli.Env) *cobra.Command {
	var page string
	c := &cobra.Command{
		Use: "report DATASET", Short: "Say what a dataset has, what was left out of it and why", Args: cli.Args(1, 1, "a dataset's directory or digest"),
		Long:    "Holds every file of the dataset to its manifest, counts rows, and lists those that show what people have deleted since.\nDATASET is a directory, or the digest, or its beginning, of one in the home.",
		Example: "  macaron data report sha256:1f3a --html report.html",
		RunE: func(cmd *cobra.Command, given []string) error {
			r, err := reportOn(cmd.Context(), e, given[0])
			if err != nil {
				return err
			}
			if page != "" {
				var b bytes.Buffer
				if err := r.HTML(&b); err != nil {
					return err
				}
				if err := disk.Replace(page, b.Bytes(), 0o600); err != nil {
					return err
				}
			}
			if e.JSON {
				return e.PrintJSON(r)
			}
			return showReport(e, r)
		},
	}
	c.Flags().StringVar(&page, "html", "", "also write the report as a page, with plots, to this file")
	return c
}

func reportOn(ctx context.Context, e *cli.Env, name string) (*filter.Report, error) {
	c, err := e.Config()
	if err != nil {
		return nil, err
	}
	d, err := filter.Open(datasetDir(c.Home, name))
	if err != nil {
		return nil, err
	}
	var tombs []filter.Tombstone
	err = e.WithStore(ctx, func(s app.Store) error {
		tombs, err = d.Tombstones(ctx, app.NewProduction(s, c.Home).Gone)
		return err
	})
	if err != nil {
		return nil, err
	}
	return d.Report(tombs)
}

// datasetDir finds a dataset of the home by the beginning of its digest, with or without
// sha256: before it; all else is a path, and a path that is there goes before a digest.
func datasetDir(home, name string) string {
	hex, isDigest := strings.CutPrefix(name, "sha256:")
	if _, err := os.Stat(name); err == nil || !isDigest && len(hex) < 4 || strings.Trim(hex, "0123456789abcdef") != "" || hex == "" {
		return name
	}
	if all, err := filepath.Glob(filepath.Join(home, "datasets", hex+"*")); err == nil && len(all) == 1 {
		return all[0]
	}
	return filepath.Join(home, "datasets", hex)
}

func showReport(e *cli.Env, r *filter.Report) error {
	m := r.Manifest
	fmt.Fprintf(e.Out, "dataset %s\n%d turns and %d runs of %d sessions; %d rows to train on, %d held out, of %d families\n", r.Dataset, m.Source.Turns, m.Source.Runs, m.Source.Sessions,
		m.Rows["train"], m.Rows["held_out"], m.Families["train"]+m.Families["held_out"])
	rows := [][]string{{"WHAT", "", "N"}}
	for _, s := range []struct {
		what string
		all  []filter.Count
	}{{"dropped", r.Dropped}, {"chars", r.Chars}, {"tokens", r.Tokens}, {"language", r.Languages}, {"adapter", r.Adapters}, {"time", r.Days}, {"replaced", r.PII}, {"contamination", r.Contamination}} {
		for _, n := range s.all {
			rows = append(rows, []string{s.what, strings.TrimSpace(n.Name), strconv.Itoa(n.N)})
		}
	}
	if err := e.Table(rows...); err != nil {
		return err
	}
	if len(m.Evaluations) == 0 {
		fmt.Fprintln(e.Out, "The rows were compared with no evaluation set.")
	}
	for _, t := range r.Tombstones {
		fmt.Fprintf(e.Out, "deleted since: line %d of %s, %s %s %s: %s\n", t.Line, t.Split, t.What, t.Session, t.Turn+t.Run, strconv.Quote(t.Why))
	}
	return nil
}
