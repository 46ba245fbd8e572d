package bench

import (
	"context"
	_ "embed" // the policy
	"encoding/json"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

//go:embed policy.toml
var policy string

// Policy is the contract of a measurement and the revision that acts. It implements
// harness.Contracts.
type Policy struct {
	Made     *contract.Contract
	Revision adapter.Revision
}

// NewPolicy makes the contract that a model is measured under: the acting adapter with its
// own prompt is the one of the contract in force, everything else the measurement's, the
// same for each mode.
func NewPolicy(now *contract.Contract, revisions []adapter.Revision) (Policy, error) {
	label := now.Agent.Adapter
	if label == "" {
		label = now.Router.Default
	}
	own, _ := now.Adapter(label)
	for _, r := range revisions {
		if r.Name != label {
			continue
		}
		text := strings.NewReplacer("@LABEL@", quoted(label), "@PROMPT@", quoted(own.Prompt), "@BASE@", quoted(now.Model.Base)).Replace(policy)
		c, err := contract.Parse([]byte(text))
		return Policy{c, r}, err
	}
	return Policy{}, errs.New(errs.AdapterNotFound, "the adapter "+label+", which acts, is not to be had", "see `macaron adapter ls`").In("agent.adapter")
}

// quoted is a TOML string; JSON's form is one.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always has one
	return string(b)
}

// Current implements harness.Contracts.
func (p Policy) Current(context.Context, string) (*contract.Contract, []adapter.Revision, error) {
	return p.Made, []adapter.Revision{p.Revision}, nil
}

// Contract implements harness.Contracts.
func (p Policy) Contract(hash ids.Digest) (*contract.Contract, error) {
	if p.Made.Hash() == hash {
		return p.Made, nil
	}
	return nil, errs.New(errs.NotFound, "the run is of another measurement", "")
}
