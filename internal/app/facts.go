package app

import (
	"context"
	"fmt"

	"macaron/internal/auth"
)

// Facts are what a person wants to know of a running App.
type Facts struct {
	Engine   string      `json:"engine"`
	Contract string      `json:"contract"`
	Adapters []Specialty `json:"adapters"`
}

// Specialty is a registered adapter, in short.
type Specialty struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Revision string `json:"revision"`
}

// Facts tells what serves, once the model is there.
func (a *App) Facts(ctx context.Context) (Facts, error) {
	catalog, err := a.catalogue.Current(ctx, auth.Local, "", "")
	if err != nil {
		return Facts{}, err
	}
	k := catalog.Contract
	f := Facts{
		Engine:   fmt.Sprintf("embedded, %s", a.cfg.Model),
		Contract: fmt.Sprintf("%s (%s %s, %s)", a.cfg.Contract, k.Name, k.Version, k.Hash().Short()),
	}
	if list := a.cfg.Below(); len(list) > 0 {
		f.Engine = "upstream at " + list[0].URL
		if len(list) > 1 {
			f.Engine += fmt.Sprintf(" and %d more", len(list)-1)
		}
	}
	for _, r := range catalog.Adapters {
		entry, _ := k.Adapter(r.Name)
		f.Adapters = append(f.Adapters, Specialty{Name: r.Name, Title: entry.Title, Revision: r.Hash.Short()})
	}
	return f, nil
}
