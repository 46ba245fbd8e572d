package mcp

import (
	"context"
	"encoding/json"

	"macaron/internal/errs"
	"macaron/internal/ui4a"
	"macaron/internal/ui4a/compile"
)

// rendered is what a model is told of a card: what macaron ui4a check --json prints.
type rendered struct {
	OK       bool              `json:"ok"` // no error; warnings do not count
	Revision string            `json:"revision"`
	Imports  []string          `json:"imports"`
	Keys     []compile.Key     `json:"keys"`
	Findings []ui4a.Diagnostic `json:"findings"`
}

// renderUI compiles a card and says what is wrong with it, so that a model can mend it.
func renderUI(_ context.Context, raw json.RawMessage) (any, error) {
	a, err := read(raw)
	if err == nil && a.Code == "" {
		err = errs.New(errs.InvalidRequest, "there is no code", "give code").In("code")
	}
	if err != nil {
		return nil, err
	}
	r, found := compile.Compile(a.Code, compile.Options{})
	if found == nil {
		found = []ui4a.Diagnostic{}
	}
	return rendered{OK: !ui4a.Failed(found), Revision: string(r.Revision), Imports: r.Imports, Keys: r.Keys, Findings: found}, nil
}
