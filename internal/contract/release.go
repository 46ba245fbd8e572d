package contract

import (
	"slices"
	"strings"

	"macaron/internal/canonical"
	"macaron/internal/ids"
)

// Release names one state of each of the three parts that change at their own pace: the
// base, the specialists, and the harness.
type Release struct {
	Schema      string       `json:"schema"` // ReleaseSchema
	Base        string       `json:"base"`   // digest of the weights, or the contract's name of them
	Specialists []Specialist `json:"specialists"`
	Harness     ids.Digest   `json:"harness"` // hash of the contract
}

// ReleaseSchema names the form.
const ReleaseSchema = "macaron.release/1"

// Specialist is an adapter's label and revision.
type Specialist struct {
	Label    string     `json:"label"`
	Revision ids.Digest `json:"revision"`
}

// NewRelease puts a release together. The order of the specialists does not count. base is
// the digest of the weights; "" takes the contract's name of them.
func NewRelease(c *Contract, base string, specialists []Specialist) (Release, ids.Digest, error) {
	if base == "" {
		base = c.Model.Base
	}
	r := Release{Schema: ReleaseSchema, Base: base, Specialists: slices.Clone(specialists), Harness: c.Hash()}
	slices.SortFunc(r.Specialists, func(a, b Specialist) int { return strings.Compare(a.Label, b.Label) })
	h, err := canonical.Hash(r)
	return r, h, err
}
