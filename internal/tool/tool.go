// Package tool holds the words of tools: what one is (Def), one use of it (Call), what
// came of it (Result), and what of that a model may see. No I/O; docs/formats/tools.md.
package tool

import (
	"context"
	"encoding/json"
	"slices"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Effect says what a call of a tool may change.
type Effect string

// The effects, from the weakest.
const (
	Pure         Effect = "pure"         // a function of its arguments
	Read         Effect = "read"         // looks at the world and leaves it as it is
	Write        Effect = "write"        // changes what can be changed back
	Irreversible Effect = "irreversible" // cannot be taken back
)

// Effects lists them from the weakest.
func Effects() []Effect { return []Effect{Pure, Read, Write, Irreversible} }

// Within reports whether e changes no more than most does.
func (e Effect) Within(most Effect) bool {
	return slices.Index(Effects(), e) <= slices.Index(Effects(), most)
}

// Changes reports whether a second call may do harm. An effect that is not known does.
func (e Effect) Changes() bool { return e != Pure && e != Read }

// Def is a tool as the contract and the model see it.
type Def struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // JSON Schema of an object
	Returns     json.RawMessage `json:"returns,omitempty"`    // JSON Schema of the result; none: any JSON
	Effect      Effect          `json:"effect"`
	Observe     bool            `json:"observe,omitempty"`  // the model looks at the result before anything else happens
	Approval    bool            `json:"approval,omitempty"` // a person says yes first
	NoAI        []string        `json:"noai,omitempty"`     // pointers into the result: code may use it, the model never sees it
	Retries     int             `json:"retries,omitempty"`  // further attempts, where they do no harm
	TimeoutMS   int             `json:"timeout_ms,omitempty"`
	MaxCalls    int             `json:"max_calls,omitempty"` // in one run; 0: no bound of its own
}

// Call is one use of a tool. ID is the model's, or made by the harness; within a run it
// names the call, so that its effect happens once.
type Call struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Parent    string          `json:"parent,omitempty"` // the cell of code that made it; empty: the model itself
}

// Result is what came of a call: a value or an error.
type Result struct {
	Value     json.RawMessage `json:"value,omitempty"` // whole, for code
	Error     *Error          `json:"error,omitempty"`
	Artifacts []Artifact      `json:"artifacts,omitempty"`
}

// Error is a failure that a model or code can act on.
type Error struct {
	Code      errs.Code `json:"code"`
	Message   string    `json:"message"`
	Retryable bool      `json:"retryable,omitempty"` // nothing was done, and the same call may succeed later
	Refused   bool      `json:"refused,omitempty"`   // the call was never let through to the tool
	Unknown   bool      `json:"unknown,omitempty"`   // it may or may not have had its effect
	// Said are the words of whoever the tool has asked. The gate puts them behind the
	// message, unless the tool has NoAI values: in a text of another form they would not be
	// found.
	Said string `json:"-"`
}

// Artifact is content too large or too binary for a value; it lies elsewhere.
type Artifact struct {
	Name   string     `json:"name"`
	MIME   string     `json:"mime,omitempty"`
	Bytes  int64      `json:"bytes"`
	Digest ids.Digest `json:"digest,omitempty"`
	NoAI   bool       `json:"noai,omitempty"` // code may use it, the model does not learn of it
}

// Tool is something that can be called. Invoke's own error means the same as
// Result.Error with that code; it honours ctx.
type Tool interface {
	Def() Def
	Invoke(ctx context.Context, c Call) (Result, error)
}

// Fail makes a result of an error; one without a code gives nothing away.
func Fail(err error) Result {
	e := errs.As(err)
	message := e.Message
	if e.Next != "" {
		message += "; " + e.Next
	}
	return Result{Error: &Error{Code: e.Code, Message: message}}
}
