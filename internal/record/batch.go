package record

import (
	"errors"
	"time"
)

// Batch is what a store commits as one: all of it or nothing.
type Batch struct {
	Records []Record
	Expect  []Expect // refused with ErrConflict unless all hold at commit
	Lengths []Length // the same
	Cards   []Cards  // the same
	Chains  []Chain
	Calls   []Call
	Queue   []Ref // turns whose summary is to be written
	Done    []Ref // turns whose summary needs no worker any more
	Lazy    bool  // nobody waits for it: a few milliseconds may pass, so that it shares a commit
}

// Ref names a turn.
type Ref struct{ Owner, Session, Turn string }

// Expect is a condition on a turn's present status.
type Expect struct {
	Owner, Turn string
	Status      Status
}

// Cards is a condition on how many records the cards of a turn have.
type Cards struct {
	Owner, Turn string
	Records     int
}

// ErrConflict says that a batch's Expect, Lengths or Cards did not hold: somebody else moved
// the turn, the run or the cards on. It never leaves the room that appends.
var ErrConflict = errors.New("the turn or run is not in the expected status any more")

// Chain says that a conversation whose messages hash to Hash stands at a turn:
// at its end, or at one of its tool calls (Messages of its trace then belong to
// it; at the end it is the whole trace).
type Chain struct {
	Owner, Scope  string
	Hash          [32]byte
	Session, Turn string
	Messages      int // of the turn's trace
	End           bool
}

// Call says which turn waits, or waited, for the result of a tool call, after the
// first Messages messages of its trace.
type Call struct {
	Owner, Scope  string
	ID            string
	Session, Turn string
	Messages      int
}

// Task is a leased summary to write.
type Task struct {
	Owner, Session, Turn string
	Attempt              int // from 1
	Until                time.Time
}

// TurnState is how the log stands on a turn.
type TurnState struct {
	Owner, Scope, Session, Turn, Parent string
	Status                              Status
}

// SessionState is how the log stands on a session.
type SessionState struct {
	Owner, Scope, Session, Root, ForkedFrom, Title string
	Opened, Updated                                time.Time
	Turns                                          int // opened, however they ended
}

// Mark is a place in a session: behind the record of that Seq.
type Mark struct {
	Session string
	Seq     int64
}
