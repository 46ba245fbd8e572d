package record

import (
	"encoding/json"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/money"
)

// The kinds of runs. A run is a session of its own, whose records carry the run's id in
// Head.Run; its model calls are hops.
const (
	KindRunOpened    Kind = "run.opened"
	KindToolCalled   Kind = "tool.called"
	KindToolReturned Kind = "tool.returned"
	KindCellRan      Kind = "cell.ran"
	KindRunNote      Kind = "run.note"
	KindRunClosed    Kind = "run.closed"
)

// RunOpened starts a run: a task under a contract, what the model is shown first, and
// everything that must be equal for another run to be comparable.
type RunOpened struct {
	Task     RunTask        `json:"task"`
	Mode     string         `json:"mode"` // functions, repl, hybrid
	Messages []chat.Message `json:"messages"`
	Tools    []chat.ToolDef `json:"tools,omitempty"` // as the model is offered them
	Pins     RunPins        `json:"pins"`
	Limits   RunLimits      `json:"limits"`
	Seed     uint64         `json:"seed"`
}

// RunTask is what is to be done. Files are put into the workspace before the first turn;
// the log has their hashes.
type RunTask struct {
	ID          string            `json:"id,omitempty"`
	Instruction string            `json:"instruction"`
	Suite       string            `json:"suite,omitempty"`
	Files       []RunFile         `json:"files,omitempty"`
	Meta        map[string]string `json:"meta,omitempty"`
}

// RunFile is a file of a workspace: its path inside, its content by hash.
type RunFile struct {
	Path   string     `json:"path"`
	Digest ids.Digest `json:"digest"`
	Bytes  int64      `json:"bytes"`
}

// RunPins are the parts that a run was made of, by hash. The contract's hash is in the head.
type RunPins struct {
	Adapter adapter.Revision `json:"adapter"` // the specialist; the base if it is zero
	Engine  chat.Engine      `json:"engine"`  // name, version, base, template, tokenizer
	Tools   ids.Digest       `json:"tools"`   // of all declarations, canonical
}

// RunLimits are the budgets; 0 means none.
type RunLimits struct {
	Turns     int       `json:"turns,omitempty"`      // model calls
	Tokens    int       `json:"tokens,omitempty"`     // prompt and output tokens of all model calls
	WallMS    int64     `json:"wall_ms,omitempty"`    // while it runs; waiting for a person does not count
	ToolCalls int       `json:"tool_calls,omitempty"` // invocations
	CostUSD   money.USD `json:"cost_usd,omitempty"`   // by the price table of the machine
}

// ToolCalled says that a tool is about to be invoked. It is durable before the effect.
type ToolCalled struct {
	Call      string          `json:"call"` // unique within the run
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`         // secrets as references only
	Effect    string          `json:"effect"`            // pure, read, write, irreversible
	Parent    string          `json:"parent,omitempty"`  // the cell, or the call of a tool, that made it
	Attempt   int             `json:"attempt"`           // from 1; another one after the first is on record as decided
	Visible   json.RawMessage `json:"visible,omitempty"` // the arguments without NoAI values, if code has passed some
}

// ToolReturned says how a call ended. One that was refused has no ToolCalled before it.
type ToolReturned struct {
	Call      string          `json:"call"`
	Name      string          `json:"name"`
	Parent    string          `json:"parent,omitempty"` // the cell that made it
	Value     json.RawMessage `json:"value,omitempty"`  // whole, as code gets it
	Error     *RunError       `json:"error,omitempty"`
	Shown     string          `json:"shown,omitempty"` // what the model is told, of calls that it made itself
	Artifacts []RunArtifact   `json:"artifacts,omitempty"`
	Wall      time.Duration   `json:"wall_ns"`
}

// RunArtifact is content that a tool left elsewhere.
type RunArtifact struct {
	Name   string     `json:"name"`
	MIME   string     `json:"mime,omitempty"`
	Bytes  int64      `json:"bytes"`
	Digest ids.Digest `json:"digest,omitempty"`
	NoAI   bool       `json:"noai,omitempty"` // the model does not learn of it
}

// RunError is how a tool failed.
type RunError struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable,omitempty"` // nothing was done
	Refused   bool   `json:"refused,omitempty"`   // the tool was not invoked
	Unknown   bool   `json:"unknown,omitempty"`   // it may have taken effect
}

// CellRan is a piece of Python that ended, well or not.
type CellRan struct {
	Cell      string        `json:"cell"` // the id of the call, or one of its own
	Code      string        `json:"code"`
	Status    string        `json:"status"`           // ok, error, interrupted, died
	Reason    string        `json:"reason,omitempty"` // why it was interrupted or died
	Output    string        `json:"output,omitempty"`
	Value     string        `json:"value,omitempty"` // of the last expression, as Python shows it
	Traceback string        `json:"traceback,omitempty"`
	Truncated bool          `json:"truncated,omitempty"`
	Artifact  *RunFile      `json:"artifact,omitempty"` // the whole output
	Calls     int           `json:"calls,omitempty"`    // tools that it invoked
	Shown     string        `json:"shown"`              // what the model is told
	Wall      time.Duration `json:"wall_ns"`
	CPU       time.Duration `json:"cpu_ns,omitempty"`
	Now       float64       `json:"now"`    // seconds since 1970, by its clock, which stands still
	Policy    ids.Digest    `json:"policy"` // of the sandbox that it ran in
}

// The notes of a run.
const (
	NoteHook            = "hook"             // Name is the hook, OK its verdict, Text its words
	NoteMessage         = "message"          // Text was said to the model in the person's place
	NoteApprovalAsked   = "approval.asked"   // Call waits
	NoteApproved        = "approval.given"   // a person said yes to Call
	NoteRefused         = "approval.refused" // a person said no to Call
	NoteRetry           = "doubt.retry"      // a person wants Call, which is in doubt, to be made again
	NoteAssumeDone      = "doubt.done"       // a person knows that Call, which was in doubt, was carried out
	NoteSkill           = "skill"            // the skill Name was read
	NoteMemoryAdded     = "memory.added"     // Item, in the scope Name, says Text
	NoteMemoryForgotten = "memory.forgotten" // Item of the scope Name is forgotten
	NoteSnapshot        = "snapshot"         // Files are the workspace
	NoteResumed         = "resumed"          // a process went on with the run
	NoteCancel          = "cancel"           // a person wants it to end
	NoteSandbox         = "sandbox.refused"  // Text names the system calls that the sandbox refused to the cell Call, with counts
	NoteReset           = "reset"            // the Python namespace is a new one; Text says what of it is lost
)

// RunNote is anything else that happened and matters to the run's course.
type RunNote struct {
	Note  string    `json:"note"`
	Name  string    `json:"name,omitempty"`
	Call  string    `json:"call,omitempty"`
	Item  string    `json:"item,omitempty"`
	Text  string    `json:"text,omitempty"`
	OK    *bool     `json:"ok,omitempty"`
	Round int       `json:"round,omitempty"` // of a stop-gate, from 1
	Files []RunFile `json:"files,omitempty"`
}

// RunStatus is how a run stands.
type RunStatus string

// The statuses. One that is stopped, waiting or in doubt can be resumed; the others but
// RunRunning are final.
const (
	RunRunning   RunStatus = "running"
	RunStopped   RunStatus = "stopped"  // its process ended
	RunWaiting   RunStatus = "waiting"  // for a person's approval
	RunInDoubt   RunStatus = "in_doubt" // nobody knows whether a call took effect
	RunDone      RunStatus = "done"
	RunFailed    RunStatus = "failed"
	RunCancelled RunStatus = "cancelled"
	RunGated     RunStatus = "gate_failed" // a stop-gate did not pass within its rounds
	RunTurns     RunStatus = "out_of_turns"
	RunTokens    RunStatus = "out_of_tokens"
	RunTime      RunStatus = "out_of_time"
	RunCalls     RunStatus = "out_of_tool_calls"
	RunMoney     RunStatus = "out_of_money"
)

// Resumable reports whether a run with this status may go on.
func (s RunStatus) Resumable() bool {
	return s == RunStopped || s == RunWaiting || s == RunInDoubt
}

// RunClosed says how a run ended, or why it stands still.
type RunClosed struct {
	Status  RunStatus `json:"status"`
	Reason  string    `json:"reason,omitempty"`
	Call    string    `json:"call,omitempty"` // that it waits for, or that is in doubt
	Answer  string    `json:"answer,omitempty"`
	Outputs []RunFile `json:"outputs,omitempty"` // declared ones that are there
	Totals  RunTotals `json:"totals"`
}

// RunTotals is what a run has used so far.
type RunTotals struct {
	Turns     int           `json:"turns"`
	ToolCalls int           `json:"tool_calls"`
	Cells     int           `json:"cells"`
	Usage     chat.Usage    `json:"usage"`
	CostUSD   money.USD     `json:"cost_usd"`
	Wall      time.Duration `json:"wall_ns"` // while it ran
}

// Kind implements Body.
func (RunOpened) Kind() Kind { return KindRunOpened }

// Kind implements Body.
func (ToolCalled) Kind() Kind { return KindToolCalled }

// Kind implements Body.
func (ToolReturned) Kind() Kind { return KindToolReturned }

// Kind implements Body.
func (CellRan) Kind() Kind { return KindCellRan }

// Kind implements Body.
func (RunNote) Kind() Kind { return KindRunNote }

// Kind implements Body.
func (RunClosed) Kind() Kind { return KindRunClosed }
