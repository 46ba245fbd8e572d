package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/models"
	"macaron/internal/registry"
)

func newAdapter(e *env) *cobra.Command {
	return noun("adapter", "Register, list and look at LoRA adapters", newAdapterAdd(e), newAdapterRemove(e), newAdapterList(e), newAdapterShow(e))
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
func (e *env) survey() ([]adapterView, error) {
	c, err := e.config()
	if err != nil {
		return nil, err
	}
	k, list, err := registry.Survey(c.Home, c.Contract)
	if err != nil {
		return nil, err
	}
	b, err := findBase(c, k.Model.Base)
	if err != nil {
		return nil, err
	}
	var views []adapterView
	for _, s := range list {
		views = append(views, viewAdapter(s, b))
	}
	return views, nil
}

func viewAdapter(s registry.Surveyed, b base) adapterView {
	r := s.Revision
	v := adapterView{Name: s.Name, Title: s.Title, Description: s.Description, Source: s.Source, Dir: s.Dir, Prompt: s.Prompt,
		Revision: r.Hash, Rank: r.Rank, Alpha: r.Alpha, Targets: r.Targets, Params: r.Params, Bytes: r.Bytes, Base: r.Base, BaseMatch: "unknown"}
	err := s.Err
	if err == nil {
		v.BaseMatch, err = b.fits(s.Dir, r.Base)
	}
	if err != nil {
		v.Problem = errs.As(err).Message
	}
	return v
}

func newAdapterList(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List the adapters that the contract registers", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			views, err := e.survey()
			if err != nil {
				return err
			}
			if e.json {
				return e.printJSON(views)
			}
			lines := [][]string{{"NAME", "TITLE", "REVISION", "RANK", "SIZE", "BASE", "DESCRIPTION"}}
			for _, v := range views {
				if v.Problem != "" {
					lines = append(lines, []string{v.Name, orDash(v.Title), "-", "-", "-", "-", "cannot be used: " + v.Problem})
					continue
				}
				lines = append(lines, []string{v.Name, orDash(v.Title), v.Revision.Short(), fmt.Sprint(v.Rank), models.Size(v.Bytes), v.BaseMatch, v.Description})
			}
			return e.table(lines...)
		},
	}
}

func newAdapterShow(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show one registered adapter", Args: args(1, 1, "the name of an adapter"),
		RunE: func(_ *cobra.Command, given []string) error {
			views, err := e.survey()
			if err != nil {
				return err
			}
			for _, v := range views {
				if v.Name != given[0] {
					continue
				}
				if e.json {
					return e.printJSON(v)
				}
				return e.showAdapter(v)
			}
			return errs.New(errs.AdapterNotFound, fmt.Sprintf("the contract has no adapter %.80q", given[0]), "macaron adapter ls lists them")
		},
	}
}

func (e *env) showAdapter(v adapterView) error {
	return e.table(
		[]string{"name", v.Name},
		[]string{"title", orDash(v.Title)},
		[]string{"description", v.Description},
		[]string{"prompt", orDash(v.Prompt)},
		[]string{"source", v.Source},
		[]string{"revision", orDash(string(v.Revision))},
		[]string{"rank, alpha", fmt.Sprintf("%d, %g", v.Rank, v.Alpha)},
		[]string{"targets", orDash(strings.Join(v.Targets, " "))},
		[]string{"parameters", thousands(v.Params)},
		[]string{"size", models.Size(v.Bytes)},
		[]string{"base", orDash(string(v.Base))},
		[]string{"fits the base", v.BaseMatch},
		[]string{"problem", orDash(v.Problem)},
	)
}
