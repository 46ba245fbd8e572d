// Package bench measures: suites of tasks are run through the harness in each mode, by a
// real model, and scored by rules that lie outside of what the model can reach. It keeps
// every outcome as a line of a file, so that a measurement that was cut short goes on, and
// makes tables with intervals of it. docs/BENCH.md says what the numbers mean.
package bench

import (
	"context"

	"macaron/internal/contract"
	"macaron/internal/tool"
)

// Suite is a list of tasks with a way to open each.
type Suite interface {
	Name() string
	Items() []Item
	// Open begins a task anew, whatever was done with it before.
	Open(ctx context.Context, item string) (Case, error)
}

// Item is a task as tables know it.
type Item struct {
	ID      string
	Family  string // a row of the table
	Cluster string // tasks of one cluster are not independent
	Split   string
	Depth   int
	Guess   string // the label, for the floor of guesses; "" where a guess could not be right
}

// Case is a task under way.
type Case interface {
	// Steps is how many requests the person makes, one after the other.
	Steps() int
	// Step gives a request and the tools for it. Earlier are the answers to those before.
	Step(ctx context.Context, n int, earlier []string) (Step, error)
	// Score judges when all steps are done, or one has failed.
	Score(ctx context.Context, answers []string) (Score, error)
	Close() error
}

// Step is one request.
type Step struct {
	Instruction string
	Files       map[string][]byte // laid into the workspace
	Tools       []tool.Tool       // that the model is given, whatever the contract declares
	// Offer makes the tools that the task's world has, by name, for a run in a workspace. Where
	// it is not nil, the contract's own tools are made, and it chooses among these (world:NAME).
	Offer func(workspace string) map[string]tool.Tool
}

// Witness is a Case that looks at the workspace of a run once nobody can write there any
// more, and before Score.
type Witness interface {
	Look(ctx context.Context, n int, workspace string) error
}

// Score is a verdict. Points are from 0 to 1.
type Score struct {
	Points float64 `json:"points"`
	Note   string  `json:"note,omitempty"` // why not more
}

// Row is an outcome: one task in one mode.
type Row struct {
	Suite   string        `json:"suite"`
	Task    string        `json:"task"`
	Mode    contract.Mode `json:"mode"`
	Family  string        `json:"family"`
	Cluster string        `json:"cluster"`
	Split   string        `json:"split,omitempty"`
	Depth   int           `json:"depth,omitempty"`
	Guess   string        `json:"guess,omitempty"`
	Score
	Status  string   `json:"status"`            // of the last run
	Failure string   `json:"failure,omitempty"` // of the machinery, not of the model: the row is no outcome
	Turns   int      `json:"turns"`
	Cells   int      `json:"cells"`
	Calls   int      `json:"calls"`
	Prompt  int      `json:"prompt_tokens"`
	Output  int      `json:"output_tokens"`
	CostUSD float64  `json:"cost_usd"`
	WallMS  int64    `json:"wall_ms"`
	Runs    []string `json:"runs"`
}
