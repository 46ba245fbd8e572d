package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"macaron/internal/config"
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
	BaseMatch   string     `json:"base_match"` // yes, no, or unknown when one of the two has no digest
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
	base, err := baseDigest(c, k.Model.Base)
	if err != nil {
		return nil, err
	}
	var views []adapterView
	for _, s := range list {
		views = append(views, viewAdapter(s, base))
	}
	return views, nil
}

func viewAdapter(s registry.Surveyed, base ids.Digest) adapterView {
	r := s.Revision
	v := adapterView{Name: s.Name, Title: s.Title, Description: s.Description, Source: s.Source, Dir: s.Dir, Prompt: s.Prompt,
		Revision: r.Hash, Rank: r.Rank, Alpha: r.Alpha, Targets: r.Targets, Params: r.Params, Bytes: r.Bytes, Base: r.Base, BaseMatch: baseMatch(r.Base, base)}
	if s.Err != nil {
		v.Problem = errs.As(s.Err).Message
	}
	return v
}

func baseMatch(adapter, base ids.Digest) string {
	switch {
	case adapter == "" || base == "":
		return "unknown"
	case adapter == base:
		return "yes"
	}
	return "no"
}

// baseDigest is the digest of the model that a contract names, "" if nobody knows it.
func baseDigest(c config.Config, name string) (ids.Digest, error) {
	s, err := models.Open(c.Home)
	if err != nil {
		return "", err
	}
	defer s.Close() // a directory handle
	m, err := s.Find(name)
	if errs.CodeOf(err) == errs.ModelNotFound {
		return "", nil
	}
	return m.Digest, err
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
