package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/accounting"
	"macaron/internal/config"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/models"
	"macaron/internal/registry"
)

func newStorage(e *cli.Env) *cobra.Command {
	return cli.Noun("storage", "Account for what models and adapters take", &cobra.Command{
		Use: "report", Short: "Compare one base with adapters against as many merged copies", Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.WithFetcher(func(f *models.Fetcher, c config.Config) error {
				r, err := account(cmd.Context(), f, c)
				if err != nil {
					return err
				}
				if e.JSON {
					return e.PrintJSON(r)
				}
				return reportStorage(e, r)
			})
		},
	})
}

// account loads the base and every adapter of the contract, as a server would, and
// adds up what they take. Two names of one revision count once.
func account(ctx context.Context, f *models.Fetcher, c config.Config) (accounting.Report, error) {
	none := accounting.Report{}
	local, err := f.Resolve(ctx, c.Model)
	if err != nil {
		return none, err
	}
	base, shape, err := loadBase(local)
	if err != nil {
		return none, err
	}
	_, list, err := registry.Survey(c.Home, c.Contract)
	if err != nil {
		return none, err
	}
	var parts []accounting.Part
	seen := map[ids.Digest]bool{}
	for _, s := range list {
		if s.Err != nil {
			return none, s.Err
		}
		if s.Dir == "" || seen[s.Revision.Hash] {
			continue
		}
		seen[s.Revision.Hash] = true
		a, err := lora.Load(s.Dir, shape)
		if err != nil {
			return none, err
		}
		parts = append(parts, accounting.Part{Name: s.Name, Amount: accounting.Amount{Params: s.Revision.Params, Stored: s.Revision.Bytes, Resident: a.Bytes()}})
	}
	if len(parts) == 0 {
		return none, errs.New(errs.AdapterNotFound, "the contract has no adapter whose files are here", "register one with macaron adapter add DIR")
	}
	return accounting.Compare(base, parts), nil
}

func loadBase(l models.Local) (accounting.Part, lora.Shape, error) {
	f, err := model.Open(l.Path)
	if err != nil {
		return accounting.Part{}, lora.Shape{}, err
	}
	defer f.Close() // read-only
	m, err := model.Load(f, runtime.GOMAXPROCS(0), nil)
	if err != nil {
		return accounting.Part{}, lora.Shape{}, err
	}
	m.Digest = l.Digest
	part := accounting.Part{Name: l.Name, Amount: accounting.Amount{Params: m.Params(), Stored: f.Size(), Resident: m.Bytes()}}
	return part, m.Shape(l.Name), nil
}

func reportStorage(e *cli.Env, r accounting.Report) error {
	row := func(name string, a accounting.Amount) []string {
		return []string{name, cli.Thousands(a.Params), models.Size(a.Stored), models.Size(a.Resident)}
	}
	lines := [][]string{{"", "PARAMETERS", "STORED", "RESIDENT"}, row(r.Base.Name, r.Base.Amount)}
	for _, a := range r.Adapters {
		lines = append(lines, row(a.Name, a.Amount))
	}
	lines = append(lines,
		row("together", r.Together),
		row(fmt.Sprintf("as %d merged copies", len(r.Adapters)), r.Merged),
		[]string{"change", fmt.Sprintf("%+.1f%%", r.Saved.Params), fmt.Sprintf("%+.1f%%", r.Saved.Stored), fmt.Sprintf("%+.1f%%", r.Saved.Resident)})
	if err := e.Table(lines...); err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "\nactive for one token: %s parameters (base and one adapter); %s in a merged copy\n", cli.Thousands(r.Active), cli.Thousands(r.ActiveMerged))
	return nil
}
