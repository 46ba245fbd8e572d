package mindforge

import (
	"macaron/internal/adapter"
	"macaron/internal/canonical"
	"macaron/internal/ids"
)

// Edit changes one component of a contract. Which edits there are, a committed catalogue says;
// the loop can choose among them and, where a model proposes texts, write the value of one.
type Edit struct {
	Kind      string `json:"kind"`      // of the catalogue: "tool.add", "prompt.append", ...
	Component string `json:"component"` // the path of what changes: "tools.lookup", "adapters.L0.prompt"
	Value     string `json:"value"`     // TOML of the new entry, or the new text; "" removes
}

// Prediction is what an edit claims before it is run. It is scored afterwards.
type Prediction struct {
	Fixes   []string `json:"fixes"`   // families that will pass more often
	Regress []string `json:"regress"` // families that may pass less often
	Gain    float64  `json:"gain"`    // of the pass rate over the items of the minibatch, -1 to 1
}

// None reports whether nothing was predicted. So it is of what nobody proposed: the contract that a
// search ends with, a training, what a gate is tried with.
func (p Prediction) None() bool { return len(p.Fixes)+len(p.Regress) == 0 && p.Gain == 0 }

// Operator says how a candidate came about.
type Operator string

// The operators.
const (
	Reflect Operator = "reflect" // a model wrote one component anew, having seen evidence
	Mutate  Operator = "mutate"  // one typed edit of the catalogue
	Merge   Operator = "merge"   // edits of two candidates that touch different components
	Ablate  Operator = "ablate"  // one edit taken back
	Restart Operator = "restart" // edits drawn anew
	Train   Operator = "train"   // weights changed, contract not
	Absorb  Operator = "absorb"  // weights learned what the contract said, and the contract is shorter
	Seed    Operator = "seed"    // where the loop began
)

// Candidate is one pair that was proposed, with where it came from. Its identity is the hash
// of its canonical form.
type Candidate struct {
	Contract   ids.Digest         `json:"contract"`
	Revisions  []adapter.Revision `json:"revisions,omitempty"`
	Parents    []ids.Digest       `json:"parents"` // candidates
	Operator   Operator           `json:"operator"`
	Edits      []Edit             `json:"edits"` // from the first parent
	Prediction Prediction         `json:"prediction"`
	Proposer   string             `json:"proposer"` // "catalogue", "scripted", a model's name
	Seed       uint64             `json:"seed"`
	Generation int                `json:"generation"`
}

// Hash is the candidate's identity.
func (c Candidate) Hash() (ids.Digest, error) { return canonical.Hash(c) }

// Stage is a step of the gate.
type Stage string

// The stages, in order. Each is cheaper than the next, and the last is done once.
const (
	Lint       Stage = "lint"
	Smoke      Stage = "smoke"
	Minibatch  Stage = "minibatch"
	Validation Stage = "validation"
	Sealed     Stage = "sealed"
	Approval   Stage = "approval"
	Canary     Stage = "canary"
	Champion   Stage = "champion"
)

// Decision is what the evaluator said of a candidate at a stage. The loop learns no more of
// the sealed test than Pass.
type Decision struct {
	Candidate  ids.Digest `json:"candidate"`
	Against    ids.Digest `json:"against"` // the champion that it was compared with
	Stage      Stage      `json:"stage"`
	Pass       bool       `json:"pass"`
	Why        string     `json:"why"`
	Evaluation ids.Digest `json:"evaluation"` // the evaluation contract
	Spent      float64    `json:"alpha"`      // of the alpha budget by this decision; 0 at the stages that spend none
	Count      int        `json:"count"`      // the number of this sealed test in the life of its set, from 1
	Cost       Cost       `json:"cost"`
	Evidence   ids.Digest `json:"evidence,omitempty"` // of the evaluator's own record
}
