package canonical

import (
	"slices"

	"macaron/internal/ids"
)

// Revision is what an adapter revision's hash is made of: what the adapter does,
// not how a file stores it.
type Revision struct {
	Base    ids.Digest `json:"base"`    // of the base that it was made for
	Rank    int        `json:"rank"`    // of the low-rank matrices
	Alpha   float64    `json:"alpha"`   // scale is alpha/rank
	Targets []string   `json:"targets"` // module names; the order does not matter
	// Invocation are the tokens that activate the adapter; absent for one that always acts.
	Invocation []int32               `json:"invocation,omitempty"`
	Tensors    map[string]ids.Digest `json:"tensors"` // tensor name to SHA-256 of its little-endian values as stored
}

// Hash names the revision.
func (r Revision) Hash() (ids.Digest, error) {
	targets := append([]string{}, r.Targets...)
	slices.Sort(targets)
	r.Targets = slices.Compact(targets)
	if r.Tensors == nil {
		r.Tensors = map[string]ids.Digest{}
	}
	return Hash(r)
}
