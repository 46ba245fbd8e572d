package scripted

import (
	"maps"
	"math"
	"slices"

	"macaron/internal/adapter"
	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
)

// Skill is what a revision can, in logits by family. Its hash names the revision.
type Skill struct {
	Adapter  string             `json:"adapter"`
	Families map[string]float64 `json:"families"`
}

// Learner says what training does to a skill.
type Learner struct {
	Most   float64 // logits that a family can gain in one training
	Rows   float64 // of a family, for 63 % of it
	Forget float64 // logits that each family without rows loses
	Tokens int64   // that a row costs
}

// Train makes a revision of a skill and rows by family. Equal arguments give one revision.
func (p *Policy) Train(from Skill, rows map[string]int, l Learner) (Skill, adapter.Revision, mindforge.Cost, error) {
	to := Skill{Adapter: from.Adapter, Families: maps.Clone(from.Families)}
	if to.Families == nil {
		to.Families = map[string]float64{}
	}
	var cost mindforge.Cost
	for _, f := range slices.Sorted(maps.Keys(p.Families)) {
		n := rows[f]
		to.Families[f] += l.Most * (1 - math.Exp(-float64(n)/l.Rows))
		if n == 0 {
			to.Families[f] -= l.Forget
		}
		cost.Trained += int64(n) * l.Tokens
	}
	r, err := p.Learn(to)
	return to, r, cost, err
}

// Learn makes a skill known to the policy, and names its revision. A process that goes on
// with a loop learns again what the loop has kept.
func (p *Policy) Learn(s Skill) (adapter.Revision, error) {
	h, err := canonical.Hash(s)
	if err != nil {
		return adapter.Revision{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.skills == nil {
		p.skills = map[ids.Digest]Skill{}
	}
	p.skills[h] = s
	return adapter.Revision{Name: s.Adapter, Hash: h}, nil
}

// Skill is that of the pair's acting revision; one that is not listed knows nothing more than
// the base.
func (p *Policy) Skill(pair mindforge.Pair) (Skill, error) {
	r := acting(pair)
	if r.Hash == "" {
		return Skill{}, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.skills[r.Hash]
	if !ok {
		return s, errs.New(errs.NotFound, "the policy knows no revision "+r.Hash.Short(), "make its skill known by Learn")
	}
	return s, nil
}
