// Package repl runs Python and programs that nobody trusts, each session in a sandbox of
// its own: one persistent namespace, no network, limits on everything, and tools as
// functions that call back into this process. It is the only room that knows the sandbox.
// docs/formats/repl.md has the protocol, the layers and what remains.
package repl

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"macaron/internal/clock"
)

// Limits bound one session or one command; zero fields take Default's.
type Limits struct {
	MemoryMB    int // all processes of the sandbox together, its /tmp and /dev/shm included
	PIDs        int // processes and threads
	CPUSeconds  int // of each process, over its life
	DiskMB      int // of the workspace, and of /tmp
	WallMS      int // of a cell or command; then it is interrupted, and killed a little later
	OutputBytes int // of a cell or command that are kept in memory; the rest becomes an artifact
}

// Default are the limits of whoever sets none.
var Default = Limits{MemoryMB: 512, PIDs: 64, CPUSeconds: 300, DiskMB: 256, WallMS: 30_000, OutputBytes: 32 << 10}

// or fills the fields that are not set.
func (l Limits) or(d Limits) Limits {
	for _, f := range []struct{ at, from *int }{{&l.MemoryMB, &d.MemoryMB}, {&l.PIDs, &d.PIDs}, {&l.CPUSeconds, &d.CPUSeconds},
		{&l.DiskMB, &d.DiskMB}, {&l.WallMS, &d.WallMS}, {&l.OutputBytes, &d.OutputBytes}} {
		if *f.at <= 0 {
			*f.at = *f.from
		}
	}
	return l
}

// Stub is a tool as the Python code sees it: a function that calls back. A dot in its
// name makes it an attribute, files.read.
type Stub struct {
	Name   string
	Doc    string
	Params []string // in order; arguments by position take these names
}

// Caller answers a call that code made; args is a JSON object. An error becomes a
// ToolError in Python: a coded error's code, message and retryability show.
//
// Calls of one cell may come at the same time, from its threads. A Caller must not Run
// a cell of the session that calls it: that is refused, as any second cell is.
type Caller func(ctx context.Context, cell, name string, args json.RawMessage) (json.RawMessage, error)

// Options say how a Pool keeps its sessions apart from this machine.
type Options struct {
	Backend      string   // "" or "auto", "bubblewrap"; "starlark" is another language, and never chosen by itself
	Worker       []string // command that calls WorkAsProcess with its last argument, for starlark
	Python       string   // interpreter; "" is /usr/bin/python3
	Bubblewrap   string   // path of bwrap; "" looks for it in PATH
	Limits       Limits   // the most that a session may have, and what it gets if it asks for nothing
	Root         string   // directory below which every workspace lies
	PoolSize     int      // sandboxes that are kept warm
	AllowMissing []string // layers (see Layers) whose absence is accepted; any other one refuses to open
	Log          *slog.Logger
	Clock        clock.Clock
}

// SessionOptions say what one session has.
type SessionOptions struct {
	ID        string // of the caller's choice; a new one if empty
	Workspace string // directory below Options.Root, made if it is not there; "" has none that lasts
	Stubs     []Stub
	Call      Caller
	Seed      uint64
	Limits    Limits // at most the pool's
	Frozen    bool   // the clock stands still within a cell, at the time of its start
}

// Cell is a piece of code to run in the session's namespace.
type Cell struct {
	ID   string
	Code string
}

// Status is how a cell ended.
type Status string

// The ways to end. After Died the namespace is gone: Restart begins a new one, Restore
// brings back a snapshot.
const (
	OK          Status = "ok"
	Raised      Status = "error"       // an exception left the cell
	Interrupted Status = "interrupted" // by Interrupt or the wall clock; the namespace is kept
	Died        Status = "died"
)

// Outcome is what a cell did.
type Outcome struct {
	Status    Status
	Output    string // standard output and error, at most Limits.OutputBytes
	Value     string // repr of the last expression
	Exception string // name of its class
	Traceback string // without frames of the sandbox
	Reason    string // why it was interrupted or died
	Truncated bool   // Output is not all of it
	Artifact  string // path in the workspace of the whole output, if it was truncated
	Wall, CPU time.Duration
	Calls     int
	Now       float64  // seconds since 1970, when it began: what a frozen clock showed it
	Noticed   []string // what the operator may want to know that it did: "socket.connect", "os.fork"
	Refused   Refusals // system calls that the sandbox refused it, by name
}

// Refusals are system calls that a sandbox refused, by name, with how often.
type Refusals map[string]int

// String is "mount 1, unshare 2".
func (r Refusals) String() string {
	list := slices.Sorted(maps.Keys(r))
	for i, name := range list {
		list[i] = fmt.Sprintf("%s %d", name, r[name])
	}
	return strings.Join(list, ", ")
}

// usual tells that nothing was refused but what every program with threads asks for: libc
// tries clone3 before clone.
func (r Refusals) usual() bool { return len(r) == 0 || len(r) == 1 && r["clone3"] > 0 }

// level is that of the line in the log that names them.
func (r Refusals) level() slog.Level {
	if r.usual() {
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

// CallRecord is a tool call of a cell and its answer, as a journal keeps it.
type CallRecord struct {
	Name  string          `json:"name"`
	Args  json.RawMessage `json:"args"`
	Value json.RawMessage `json:"value,omitempty"`
	Error *CallError      `json:"error,omitempty"`
}

// CallError is the failure of a call as Python sees it.
type CallError struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// Entry is a cell that ran: what replays it.
type Entry struct {
	Cell   string       `json:"cell"`
	Code   string       `json:"code"`
	Now    float64      `json:"now"` // seconds, when it began
	Status Status       `json:"status"`
	Calls  []CallRecord `json:"calls,omitempty"`
}

// atMost lowers what is above the limits of most.
func (l Limits) atMost(most Limits) Limits {
	for _, f := range []struct{ at, most *int }{{&l.MemoryMB, &most.MemoryMB}, {&l.PIDs, &most.PIDs}, {&l.CPUSeconds, &most.CPUSeconds},
		{&l.DiskMB, &most.DiskMB}, {&l.WallMS, &most.WallMS}, {&l.OutputBytes, &most.OutputBytes}} {
		*f.at = min(*f.at, *f.most)
	}
	return l
}
