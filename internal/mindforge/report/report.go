// Package report tells what a run of the loop came to: what was covered against its controls,
// what each generation's pair scored, what was rejected and why, what it all cost. It is made
// of the ledger and of the texts that are kept beside it, and of nothing else: who has these
// makes the same report again. docs/formats/report.md has the form.
package report

import (
	"context"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/stat"
)

// Schema names the form of a report.
const Schema = "macaron.forge-report/1"

// Report is what a run came to.
type Report struct {
	Schema      string          `json:"schema"`
	Run         string          `json:"run"`
	Begun       time.Time       `json:"begun"`
	Last        time.Time       `json:"last"`    // entry of the run
	Ended       string          `json:"ended"`   // why; "": it has not
	Entries     int             `json:"entries"` // of the run
	Head        ledger.Head     `json:"head"`    // of the ledger, which was checked up to it
	Settings    ledger.Run      `json:"settings"`
	Generations []Generation    `json:"generations"`
	Coverage    []Covered       `json:"coverage"`
	Searches    []Searched      `json:"searches"`
	Tasks       []WorkedOn      `json:"tasks"`
	Discoveries []Discovered    `json:"discoveries"`
	Measured    []Measured      `json:"measured"`
	Decisions   []Verdict       `json:"decisions"`
	Rejected    []Rejection     `json:"rejected"`
	Failures    []Failed        `json:"failures"`
	Audited     stat.Rate       `json:"audit_rejected"` // of the attempts that passed, those that the audit did not believe
	Costs       []StageCost     `json:"costs"`
	Cost        mindforge.Cost  `json:"cost"`
	Budgets     []ledger.Budget `json:"budgets"`
	Aliases     []Move          `json:"aliases"` // every move in the owner's ledger
	Commands    []Command       `json:"commands"`
}

// Generation is one round of the loop.
type Generation struct {
	N          int                        `json:"generation"`
	Candidates map[mindforge.Operator]int `json:"candidates"`
	Champion   ids.Digest                 `json:"champion"` // the candidate that it began with
	Standing   ids.Digest                 `json:"standing"` // and that which stood at its end
	Promoted   bool                       `json:"promoted"`
	Label      string                     `json:"label"`
	Steps      []StepState                `json:"steps"`
}

// StepState is where a stage of a generation stands.
type StepState struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Note  string `json:"note,omitempty"`
}

// Measured are attempts under a candidate. At the stage discovery these are of tasks that were
// drawn for the generation from the families for training, before anything was kept of them.
type Measured struct {
	Generation int           `json:"generation"`
	Candidate  ids.Digest    `json:"candidate"`
	Label      string        `json:"label"`
	Stage      string        `json:"stage"`
	Suite      string        `json:"suite"`
	Items      int           `json:"items,omitempty"`
	Rate       stat.Estimate `json:"rate"` // of passes, with its interval over families
}

// Verdict is a decision of the evaluator. Of a sealed test it has no more than passed or not.
type Verdict struct {
	Seq        int64           `json:"seq"`
	Generation int             `json:"generation"`
	Candidate  ids.Digest      `json:"candidate"`
	Label      string          `json:"label"`
	Stage      mindforge.Stage `json:"stage"`
	Pass       bool            `json:"pass"`
	Why        string          `json:"why"`
	Alpha      float64         `json:"alpha"`
	Count      int             `json:"count"`
	Signed     bool            `json:"signed"` // by the evaluator; otherwise the loop decided by itself
}

// Rejection is something that did not go on, and why.
type Rejection struct {
	Seq        int64      `json:"seq"`
	Generation int        `json:"generation"`
	At         string     `json:"at"` // a stage, or what was refused
	Candidate  ids.Digest `json:"candidate,omitempty"`
	Label      string     `json:"label,omitempty"`
	Edits      []string   `json:"edits,omitempty"`
	Why        string     `json:"why"`
	By         string     `json:"by"` // who proposed it
}

// Failed counts a class of failures at a stage, with the place where it has to be mended.
type Failed struct {
	Stage   string            `json:"stage"`
	Failure mindforge.Failure `json:"failure"`
	Place   mindforge.Place   `json:"place"`
	N       int               `json:"n"`
}

// StageCost is what a stage of a generation took.
type StageCost struct {
	Generation int            `json:"generation"`
	Stage      string         `json:"stage"`
	Cost       mindforge.Cost `json:"cost"`
}

// Move is a move of an alias.
type Move struct {
	Seq int64     `json:"seq"`
	At  time.Time `json:"at"`
	Run string    `json:"run,omitempty"`
	ledger.Moved
}

// Command gives numbers of a report again.
type Command struct {
	What string `json:"what"`
	Line string `json:"line"`
}

// Of makes the report of a run from an owner's ledger. All of the ledger is checked first: of
// one that was changed nothing is told.
func Of(ctx context.Context, l *ledger.Ledger, owner, run string) (*Report, error) {
	var all []ledger.Entry
	head, err := l.Check(ctx, owner, func(e ledger.Entry) { all = append(all, e) })
	if err != nil {
		return nil, err
	}
	f := newFolder(run, func(name ids.Digest) (string, error) {
		return l.Store.KeptText(ctx, owner, ledger.PlainText, name)
	})
	f.r.Head = head
	for _, e := range all {
		if err := f.entry(e); err != nil {
			return nil, err
		}
	}
	if f.r.Entries == 0 {
		return nil, errs.New(errs.NotFound, "the ledger has no run "+errs.Clip(run), "`macaron forge status` lists them")
	}
	return f.end(), nil
}
