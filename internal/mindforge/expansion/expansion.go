// Package expansion searches contracts with frozen weights: attempts are made, audited and
// placed, edits are proposed from what failed, and what a search finds is compared with what
// chance finds in as many attempts. Two objectives are kept apart: deployment looks for one
// contract for all tasks, coverage for any contract that solves a task. A search is a
// function of its settings and of the outcomes of attempts: it goes on from its steps.
// docs/FORGE_SEARCH.md tells the whole.
package expansion

import (
	"context"
	"math/rand/v2"
	"slices"

	"macaron/internal/canonical"
	"macaron/internal/contract"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
)

// Proposer writes or chooses an edit. What it says is data: it is linted, admitted by the
// catalogue and parsed as a contract before anything is run.
type Proposer interface {
	Name() string
	Propose(ctx context.Context, a Ask) (Proposal, error)
}

// Ask is what a proposer is shown.
type Ask struct {
	Contract *contract.Contract        // of the parent
	Edits    []mindforge.Edit          // that made it
	Traces   []Trace                   // of the parent's last attempts, failures first
	Options  []Option                  // committed edits that fit by what they touch, in the catalogue's order
	Takes    func(mindforge.Edit) bool // whether the contract is valid that comes of an edit: it is made, at most once; nil: each is
	Free     bool                      // whether a text may be written where the catalogue lets one
	Seed     uint64
}

// Option is a committed edit that can be chosen.
type Option struct {
	Edit    mindforge.Edit `json:"edit"`
	About   string         `json:"about"`
	Answers []string       `json:"answers,omitempty"` // classes of failure that it is meant for
}

// Meant reports whether an option is meant for a class of failure.
func (o Option) Meant(f mindforge.Failure) bool { return slices.Contains(o.Answers, string(f)) }

// Trace is an attempt as a proposer sees it: never a task's judgment.
type Trace struct {
	Family      string            `json:"family"`
	Instruction string            `json:"instruction"`
	Pass        bool              `json:"pass"`
	Failure     mindforge.Failure `json:"failure,omitempty"`
	Evidence    []string          `json:"evidence,omitempty"`
}

// Proposal is one edit, and what it claims.
type Proposal struct {
	Edit       mindforge.Edit       `json:"edit"`
	Prediction mindforge.Prediction `json:"prediction"`
}

// PairHash names a pair by what decides its attempts: its contract and its revisions.
func PairHash(p mindforge.Pair) (ids.Digest, error) {
	type revision struct {
		Name string     `json:"name"`
		Hash ids.Digest `json:"hash"`
	}
	list := make([]revision, len(p.Revisions))
	for i, r := range p.Revisions {
		list[i] = revision{r.Name, r.Hash}
	}
	slices.SortFunc(list, func(a, b revision) int { return compare(a.Name, b.Name) })
	return canonical.Hash(struct {
		Contract  ids.Digest `json:"contract"`
		Revisions []revision `json:"revisions"`
	}{p.Contract.Hash(), list})
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// member is a pair that a search knows, with the edits from its base.
type member struct {
	pair  mindforge.Pair
	hash  ids.Digest // of the pair
	name  ids.Digest // of the candidate
	edits []mindforge.Edit
}

// made makes the member that edits of a base come to.
func made(base mindforge.Pair, edits []mindforge.Edit) (member, error) {
	c, err := edit.Apply(base.Contract, edits...)
	if err != nil {
		return member{}, err
	}
	p := mindforge.Pair{Contract: c, Revisions: base.Revisions}
	h, err := PairHash(p)
	return member{pair: p, hash: h, edits: edits}, err
}

// candidate writes a member down.
func (m *member) candidate(c mindforge.Candidate) (mindforge.Candidate, error) {
	c.Contract, c.Revisions = m.pair.Contract.Hash(), slices.Clone(m.pair.Revisions)
	if c.Parents == nil {
		c.Parents = []ids.Digest{}
	}
	if c.Edits == nil {
		c.Edits = []mindforge.Edit{}
	}
	name, err := canonical.Hash(c)
	m.name = name
	return c, err
}

// source is the randomness of one step: equal seeds and steps draw equally, whatever other
// steps have drawn.
func source(seed uint64, step int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15*uint64(step+1))) //nolint:gosec // a search is no secret
}
