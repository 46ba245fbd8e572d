// Package transcript folds the records of a run into what happened: model calls, what the
// model did, what came of it, and how the run stands. It is a pure function of the log:
// the harness goes on with a run from here, and everything that shows or exports one reads
// it. docs/formats/log.md has the records.
package transcript

import (
	"encoding/json"
	"time"

	"macaron/internal/record"
)

// The names of calls that the harness itself answers.
const (
	Python = "run_python" // runs code; the argument is "code"
	Finish = "finish"     // ends the run; the argument is "answer"
	// ReadSkill gives a skill, under this name where the contract gives it no other.
	ReadSkill = "read_skill"
)

// Run is a run as far as its records tell. Only Apply changes it.
type Run struct {
	Head   record.Head // of run.opened
	Opened record.RunOpened
	Said   []string // put to the model before its first turn
	Turns  []*Turn
	Failed []*Turn // model calls that did not come to their end; nothing came of them
	Notes  []Note
	Status record.RunStatus
	Closed *record.RunClosed // the last one; nil if there is none yet
	Totals record.RunTotals
	Judged *record.Feedback // what a person said of it last; nil: nobody did

	Records int   // from run.opened on
	Seq     int64 // of the last one

	calls map[string]*Call
	cells map[string]*Cell
	since time.Time // when the present stretch of work began
	last  time.Time
}

// Turn is one model call and what the model did with it.
type Turn struct {
	Head record.Head
	Hop  record.Hop
	Acts []Act    // in the order in which the model asked for them
	Said []string // put to the model behind the results, in the person's place
}

// Act is one thing that a model's answer asks for: a tool, code, or the end. ID is that of
// the call, or the hop's for code that stands in the text.
type Act struct {
	ID     string
	Name   string
	Fenced bool  // code in the text, not a call
	Call   *Call // of a tool; nil until something of it is on record
	Cell   *Cell // of code; likewise
	Reply  *string
}

// Call is one use of a tool.
type Call struct {
	ID       string
	Called   *record.ToolCalled // the last attempt; nil for a call that was refused
	Returned *record.ToolReturned
	Asked    bool    // a person was asked
	Approved *bool   // what the person said
	Refusal  string  // why not
	Doubt    string  // NoteRetry or NoteAssumeDone, of the present attempt
	Calls    []*Call // that the tool made itself, in order
	Time     time.Time

	parent string // cell or call; "": the model
}

// Cell is a piece of Python.
type Cell struct {
	ID    string
	Ran   *record.CellRan
	Calls []*Call   // in the order in which the code made them
	Time  time.Time // of its first record
	At    time.Time // of its end
}

// Note is a note and when it was made.
type Note struct {
	record.RunNote
	Time time.Time
}

// Fold makes a Run of all its records.
func Fold(records []record.Record) *Run {
	r := &Run{}
	for _, rec := range records {
		r.Apply(rec)
	}
	return r
}

// Done reports whether the act has its answer.
func (a *Act) Done() bool {
	return a.Reply != nil || a.Call != nil && a.Call.Returned != nil || a.Cell != nil && a.Cell.Ran != nil
}

// Pending gives the first act of the last turn that has no answer, nil if there is none.
func (r *Run) Pending() *Act {
	t := r.Last()
	if t == nil {
		return nil
	}
	for i := range t.Acts {
		if !t.Acts[i].Done() {
			return &t.Acts[i]
		}
	}
	return nil
}

// Last gives the last turn, nil if there is none.
func (r *Run) Last() *Turn {
	if len(r.Turns) == 0 {
		return nil
	}
	return r.Turns[len(r.Turns)-1]
}

// Call finds a call by its id, nil if nothing of it is on record.
func (r *Run) Call(id string) *Call { return r.calls[id] }

// Calls lists the calls of the run, the model's and those that code and tools made, in order.
func (r *Run) Calls() []*Call {
	var all []*Call
	for _, t := range r.Turns {
		for _, a := range t.Acts {
			all = append(all, a.Made()...)
		}
	}
	return all
}

// Made lists the calls of an act: its own, and those that its code and its tool made, in order.
func (a *Act) Made() (all []*Call) {
	if a.Call != nil {
		all = a.Call.under(all)
	}
	if a.Cell != nil {
		all = append(all, a.Cell.Made()...)
	}
	return all
}

// Made lists the calls that a cell made, and those that their tools made, in order.
func (c *Cell) Made() (all []*Call) {
	for _, k := range c.Calls {
		all = k.under(all)
	}
	return all
}

// under appends a call and those that its tool made.
func (c *Call) under(all []*Call) []*Call {
	all = append(all, c)
	for _, x := range c.Calls {
		all = x.under(all)
	}
	return all
}

// Visible are the arguments of a call as anybody may see them who must not see NoAI values.
func (c *Call) Visible() json.RawMessage {
	if c.Called.Visible != nil {
		return c.Called.Visible
	}
	return c.Called.Arguments
}

// Settled reports whether a call is not asked for again: the code or the tool that made it
// has ended, and so has what that belongs to.
func (r *Run) Settled(c *Call) bool {
	if outer := r.calls[c.parent]; outer != nil {
		return outer.Returned != nil && r.Settled(outer)
	}
	cell := r.cells[c.parent]
	return cell == nil || cell.Ran != nil
}

// Files lists the files that the run has kept: those of the task, of snapshots and outputs.
func (r *Run) Files() []record.RunFile {
	all := append([]record.RunFile(nil), r.Opened.Task.Files...)
	for _, n := range r.Notes {
		all = append(all, n.Files...)
	}
	if r.Closed != nil {
		all = append(all, r.Closed.Outputs...)
	}
	return all
}

// Cell finds a cell by its id, nil if nothing of it is on record.
func (r *Run) Cell(id string) *Cell { return r.cells[id] }

// Cells lists the cells that ran, in order.
func (r *Run) Cells() []*Cell {
	var all []*Cell
	for _, t := range r.Turns {
		for _, a := range t.Acts {
			if a.Cell != nil && a.Cell.Ran != nil {
				all = append(all, a.Cell)
			}
		}
	}
	return all
}

// Worked is how long the present stretch of work was, as far as its records tell.
func (r *Run) Worked() time.Duration { return r.last.Sub(r.since) }

// Until is the time of the last record.
func (r *Run) Until() time.Time { return r.last }

// InDoubt reports whether nobody knows if the call took effect: it was begun, or ended
// without telling, and no person has decided.
func (c *Call) InDoubt() bool {
	if c.Called == nil || c.Doubt != "" {
		return false
	}
	if c.Returned != nil {
		return c.Returned.Error != nil && c.Returned.Error.Unknown
	}
	return c.Called.Effect != "pure" && c.Called.Effect != "read"
}
