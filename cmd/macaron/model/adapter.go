package model

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/models"
	"macaron/internal/registry"
)

// NewAdapter gives the commands of adapter.
func NewAdapter(e *cli.Env) *cobra.Command {
	return cli.Noun("adapter", "Register, list and look at LoRA adapters", newAdapterAdd(e), newAdapterRemove(e), newAdapterList(e), newAdapterShow(e))
}

// adapterView is one registered adapter for people and programs.
type adapterView struct {
	Name        string     `json:"name"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description"`
	Source      string     `json:"source"`
	Dir         string     `json:"dir,omitempty"`
	Revision    ids.Digest `json:"revision,omitempty"`
	Rank        int        `json:"rank,omitempty"`
	Alpha       float64    `json:"alpha,omitempty"`
	Targets     []string   `json:"targets,omitempty"`
	Params      int64      `json:"params,omitempty"`
	Bytes       int64      `json:"bytes,omitempty"`
	Base        ids.Digest `json:"base,omitempty"`
	BaseMatch   string     `json:"base_match"` // yes, no or unknown
	Prompt      string     `json:"prompt,omitempty"`
	Problem     string     `json:"problem,omitempty"`
}

// survey lists the adapters of the configured contract, broken ones too.
func survey(e *cli.Env) ([]adapterView, error) {
	c, err := e.Config()
	if err != nil {
		return nil, err
	}
	k, list, err := registry.Survey(c.Home, c.Contract)
	if err != nil {
		return nil, err
	}
	b, err := FindBase(c, k.Model.Base)
	if err != nil {
		return nil, err
	}
	var views []adapterView
	for _, s := range list {
		views = append(views, viewAdapter(s, b))
	}
	return views, nil
}

func viewAdapter(s registry.Surveyed, b Base) adapterView {
	r := s.Revision
	v := adapterView{Name: s.Name, Title: s.Title, Description: s.Description, Source: s.Source, Dir: s.Dir, Prompt: s.Prompt,
		Revision: r.Hash, Rank: r.Rank, Alpha: r.Alpha, Targets: r.Targets, Params: r.Params, Bytes: r.Bytes, Base: r.Base, BaseMatch: "unknown"}
	err := s.Err
	if err == nil {
		v.BaseMatch, err = b.Fits(s.Dir, r.Base)
	}
	if err != nil {
		v.Problem = errs.As(err).Message
	}
	return v
}

func newAdapterList(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List the adapters that the contract registers", Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			views, err := survey(e)
			if err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(views)
			}
			lines := [][]string{{"NAME", "TITLE", "REVISION", "RANK", "SIZE", "BASE", "DESCRIPTION"}}
			for _, v := range views {
				if v.Problem != "" {
					lines = append(lines, []string{v.Name, cli.OrDash(v.Title), "-", "-", "-", "-", "cannot be used: " + v.Problem})
					continue
				}
				lines = append(lines, []string{v.Name, cli.OrDash(v.Title), v.Revision.Short(), fmt.Sprint(v.Rank), models.Size(v.Bytes), v.BaseMatch, v.Description})
			}
			return e.Table(lines...)
		},
	}
}

func newAdapterShow(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show one registered adapter", Args: cli.Args(1, 1, "the name of an adapter"),
		RunE: func(_ *cobra.Command, given []string) error {
			views, err := survey(e)
			if err != nil {
				return err
			}
			for _, v := range views {
				if v.Name != given[0] {
					continue
				}
				if e.JSON {
					return e.PrintJSON(v)
				}
				return showAdapter(e, v)
			}
			return errs.New(errs.AdapterNotFound, fmt.Sprintf("the contract has no adapter %.80q", given[0]), "macaron adapter ls lists them")
		},
	}
}

func showAdapter(e *cli.Env, v adapterView) error {
	return e.Table(
		[]string{"name", v.Name},
		[]string{"title", cli.OrDash(v.Title)},
		[]string{"description", v.Description},
		[]string{"prompt", cli.OrDash(v.Prompt)},
		[]string{"source", v.Source},
		[]string{"revision", cli.OrDash(string(v.Revision))},
		[]string{"rank, alpha", fmt.Sprintf("%d, %g", v.Rank, v.Alpha)},
		[]string{"targets", cli.OrDash(strings.Join(v.Targets, " "))},
		[]string{"parameters", cli.Thousands(v.Params)},
		[]string{"size", models.Size(v.Bytes)},
		[]string{"base", cli.OrDash(string(v.Base))},
		[]string{"fits the base", v.BaseMatch},
		[]string{"problem", cli.OrDash(v.Problem)},
	)
}
