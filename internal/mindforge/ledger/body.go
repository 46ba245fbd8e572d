package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
)

// Kind says what an entry tells.
type Kind string

// The kinds.
const (
	KindRun       Kind = "run"       // a run of the loop began
	KindStep      Kind = "step"      // it passed a boundary
	KindCandidate Kind = "candidate" // a pair was proposed
	KindOutcomes  Kind = "outcomes"  // attempts under a pair, summed up
	KindDecision  Kind = "decision"  // the evaluator said something of a candidate
	KindMade      Kind = "made"      // something came to be: tasks, data, a revision, a contract, a release
	KindBudget    Kind = "budget"    // of what may be spent, so much is
	KindAlias     Kind = "alias"     // a name moved over releases
	KindRefused   Kind = "refused"   // something that a proposer tried and did not get
)

// Body is what an entry says, one of the types below.
type Body interface {
	Kind() Kind
	check() error
	lasting() Body // without what two equal runs may differ in
}

// Run begins an account of a loop.
type Run struct {
	Settings   ids.Digest `json:"settings"`   // of what the loop was started with
	Evaluation ids.Digest `json:"evaluation"` // the evaluation contract
	Start      ids.Digest `json:"start"`      // the release that it begins from
	Seed       uint64     `json:"seed"`
	Actor      string     `json:"actor"`             // "harness", "scripted"
	Command    string     `json:"command,omitempty"` // that does it again
}

// Step is a boundary between stages of the loop.
type Step struct {
	Generation int            `json:"generation"`
	Name       string         `json:"name"`
	State      string         `json:"state"` // begun, ended, failed, paused, resumed
	Result     ids.Digest     `json:"result,omitempty"`
	Note       string         `json:"note,omitempty"`
	Cost       mindforge.Cost `json:"cost"`
}

// Candidate is a pair that was proposed. Hash is its identity, that of its canonical form.
type Candidate struct {
	Hash      ids.Digest          `json:"hash"`
	Candidate mindforge.Candidate `json:"candidate"`
	Diff      ids.Digest          `json:"diff,omitempty"` // a kept text: what of the contract differs from the first parent's
	Cost      mindforge.Cost      `json:"cost"`           // of proposing it
}

// Outcomes sum up attempts under a candidate.
type Outcomes struct {
	Candidate ids.Digest                `json:"candidate"`
	Stage     mindforge.Stage           `json:"stage"`
	Suite     string                    `json:"suite"`
	Items     int                       `json:"items"`
	Passes    int                       `json:"passes"` // of Cost.Attempts
	Points    float64                   `json:"points"` // mean, 0 to 1
	Failures  map[mindforge.Failure]int `json:"failures,omitempty"`
	Families  map[string]Tally          `json:"families,omitempty"`
	Evidence  ids.Digest                `json:"evidence,omitempty"` // of the matrix that this sums up
	Cost      mindforge.Cost            `json:"cost"`
}

// Tally counts attempts.
type Tally struct {
	Tries  int `json:"tries"`
	Passes int `json:"passes"`
}

// Decision is the evaluator's, in the envelope that it signed.
type Decision struct {
	Decision mindforge.Decision `json:"decision"`
	Envelope string             `json:"envelope"` // DSSE; "" where the loop decided by itself, before any evaluator was asked
}

// Made is something that came to be, with what it was made of.
type Made struct {
	What string            `json:"what"` // tasks, dataset, checkpoint, revision, contract, release, report
	Name string            `json:"name,omitempty"`
	Hash ids.Digest        `json:"hash"`
	From []Source          `json:"from,omitempty"`
	Tell map[string]string `json:"tell,omitempty"` // what a reader wants to know of it: counts, rates
	Cost mindforge.Cost    `json:"cost"`
}

// Source is one thing that something was made of.
type Source struct {
	What string     `json:"what"` // base, contract, dataset, tasks, recipe, parent, code, candidate
	Name string     `json:"name,omitempty"`
	Hash ids.Digest `json:"hash"`
}

// Budget tells what is left of what may be spent.
type Budget struct {
	What  string  `json:"what"`  // attempts, tokens, seconds, usd, alpha, sealed tests
	Spent float64 `json:"spent"` // in all
	Limit float64 `json:"limit"`
}

// Refused is an attempt at what is not allowed.
type Refused struct {
	What      string     `json:"what"` // "evaluation contract changed", "sealed task read"
	Why       string     `json:"why"`
	By        string     `json:"by"` // the proposer
	Candidate ids.Digest `json:"candidate,omitempty"`
}

// Kind implements Body.
func (Run) Kind() Kind       { return KindRun }
func (Step) Kind() Kind      { return KindStep }
func (Candidate) Kind() Kind { return KindCandidate }
func (Outcomes) Kind() Kind  { return KindOutcomes }
func (Decision) Kind() Kind  { return KindDecision }
func (Made) Kind() Kind      { return KindMade }
func (Budget) Kind() Kind    { return KindBudget }
func (Refused) Kind() Kind   { return KindRefused }

// Decode reads an entry's body. A field that this build does not know is an error.
func (e Entry) Decode() (Body, error) {
	decode, ok := decoders[e.Kind]
	if !ok {
		return nil, errs.New(errs.FormatInvalid, fmt.Sprintf("entry %d has the kind %.40q, which this build does not know", e.Seq, e.Kind), "use the build that wrote it, or a newer one")
	}
	b, err := decode(e.Body)
	return b, errs.Wrap(errs.FormatInvalid, err, fmt.Sprintf("entry %d is malformed", e.Seq), "restore the database from a backup")
}

var decoders = map[Kind]func([]byte) (Body, error){
	KindRun: decodeAs[Run], KindStep: decodeAs[Step], KindCandidate: decodeAs[Candidate], KindOutcomes: decodeAs[Outcomes], KindDecision: decodeAs[Decision],
	KindMade: decodeAs[Made], KindBudget: decodeAs[Budget], KindAlias: decodeAs[Moved], KindRefused: decodeAs[Refused],
}

func decodeAs[B Body](text []byte) (Body, error) {
	var b B
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(&b)
	return b, err
}
