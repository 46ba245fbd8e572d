// Package model is `macaron model` and `macaron adapter`: the weights that are on this
// machine.
package model

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/config"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/models"
)

// New gives the commands of model.
func New(e *cli.Env) *cobra.Command {
	return cli.Noun("model", "Fetch, list and look at base models", newModelPull(e), newModelList(e), newModelShow(e), newModelExport(e))
}

type pullFlags struct{ name, sum, source string }

func newModelPull(e *cli.Env) *cobra.Command {
	var p pullFlags
	c := &cobra.Command{
		Use:   "pull [NAME | SOURCE]",
		Short: "Fetch a model into the store, checked by SHA-256",
		Example: "  macaron model pull\n  macaron model pull " + models.Default + " --source file:model.gguf\n" +
			"  macaron model pull hf:OWNER/REPOSITORY/FILE.gguf --name my-model --sha256 HEX",
		Args: cli.Args(0, 1, "at most one name or source"),
		RunE: func(cmd *cobra.Command, given []string) error {
			return e.WithFetcher(func(f *models.Fetcher, cfg config.Config) error {
				what := cfg.Model
				if len(given) == 1 {
					what = given[0]
				}
				return pull(cmd.Context(), e, f, what, p)
			})
		},
	}
	c.Flags().StringVar(&p.name, "name", "", "name to keep a pulled source under (default: from the file's name)")
	c.Flags().StringVar(&p.sum, "sha256", "", "SHA-256 that the file of a source must have, in hex")
	c.Flags().StringVar(&p.source, "source", "", "fetch a catalogue model from this source only")
	return c
}

// pull fetches a model by name, or by source under a new name.
func pull(ctx context.Context, e *cli.Env, f *models.Fetcher, what string, p pullFlags) error {
	f.Check = isModel
	if !models.IsSource(what) {
		if p.name != "" || p.sum != "" {
			return errs.New(errs.InvalidRequest, "--name and --sha256 are for a source; "+what+" is a name, which has both", "leave them out, or give a source such as file:PATH")
		}
		m, err := f.Store.Find(what)
		if err != nil {
			return err
		}
		if p.source != "" {
			m.Sources = []string{p.source}
		}
		path, d, err := f.Fetch(ctx, m)
		return fetched(e, path, d, m.Digest != "", err)(m)
	}
	m, err := models.FromSource(what, p.name)
	if err != nil {
		return err
	}
	if p.sum != "" {
		if m.Digest, err = ids.ParseDigest("sha256:" + p.sum); err != nil {
			return err
		}
	}
	path, d, err := f.Fetch(ctx, m)
	if err != nil {
		return err
	}
	compared := m.Digest != ""
	if m.Digest = d; m.Size == 0 {
		if info, err := os.Stat(path); err == nil {
			m.Size = info.Size()
		}
	}
	return fetched(e, path, d, compared, f.Store.Remember(m, time.Now()))(m)
}

// isModel refuses a file that is no model, before it gets a place in the store.
func isModel(path string) error {
	f, err := gguf.Open(path)
	if err != nil {
		e := errs.As(err)
		return errs.Wrap(e.Code, err, strings.ReplaceAll(e.Message, path, "what was fetched"), "name the GGUF file of a model")
	}
	return f.Close()
}

// fetched prints where a model lies, and whether its bytes were compared with a known
// SHA-256.
func fetched(e *cli.Env, path string, d ids.Digest, compared bool, err error) func(models.Model) error {
	return func(m models.Model) error {
		if err != nil {
			return err
		}
		if e.JSON {
			return e.PrintJSON(map[string]any{"name": m.Name, "path": path, "sha256": d.Hex(), "bytes": m.Size, "verified": compared})
		}
		note := "verified"
		if !compared {
			note = "not compared: no --sha256 was given"
		}
		fmt.Fprintf(e.Out, "%s\n  sha256 %s (%s)\n  %s\n", m.Name, d.Hex(), note, path)
		return nil
	}
}

type modelRow struct {
	models.Model
	Path   string `json:"path,omitempty"` // when stored
	Stored bool   `json:"stored"`
	InUse  bool   `json:"configured"`
}

func newModelList(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List the models that have a name here", Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.WithFetcher(func(f *models.Fetcher, cfg config.Config) error {
				rows, err := modelRows(f.Store, cfg.Model)
				if err != nil {
					return err
				}
				if e.JSON {
					return e.PrintJSON(rows)
				}
				return listModels(e, rows)
			})
		},
	}
}

func modelRows(s *models.Store, configured string) ([]modelRow, error) {
	pulled, err := s.Pulled()
	if err != nil {
		return nil, err
	}
	all := models.Catalogue()
	for _, p := range pulled {
		all = append(all, p.Model)
	}
	var rows []modelRow
	for _, m := range all {
		path, err := s.Has(m.Digest)
		if err != nil && errs.CodeOf(err) != errs.NotFound {
			return nil, err
		}
		rows = append(rows, modelRow{Model: m, Path: path, Stored: err == nil, InUse: m.Name == configured})
	}
	return rows, nil
}

func listModels(e *cli.Env, rows []modelRow) error {
	lines := [][]string{{"NAME", "SIZE", "STORED", "LICENCE", "SHA-256"}}
	for _, r := range rows {
		stored, name := "no", r.Name
		if r.Stored {
			stored = "yes"
		}
		if r.InUse {
			name += " *"
		}
		lines = append(lines, []string{name, models.Size(r.Size), stored, cli.OrDash(r.Licence), r.Digest.Short()})
	}
	return e.Table(lines...)
}
