package repl

import (
	"context"
	_ "embed"
	"io"
	"os"
	"time"
)

// starting bounds what a sandbox needs until its program runs, and each of its answers
// that no cell delays.
const starting = 20 * time.Second

// driver runs inside: it is the interpreter's side of the protocol.
//
//go:embed driver.py
var driver string

// bootstrap compiles the driver, its last argument, under a name of its own, which keeps its
// frames out of the tracebacks of cells.
const bootstrap = `import sys; exec(compile(sys.argv.pop(), "<macaron>", "exec"), {"__name__": "macaron", "__builtins__": __builtins__})`

// engine is one running interpreter, whatever keeps it apart from this machine.
type engine interface {
	send(request) error      // from one goroutine at a time
	receive() (reply, error) // from one goroutine
	stdout() *output
	usage() usage      // of all its processes
	refused() Refusals // its refused system calls since the last time, by name
	kill(reason string)
	ended() <-chan struct{} // closed when nothing of it is left
	why() string            // once it has ended
	release()               // after that
}

// usage is what the processes of an engine use.
type usage struct {
	memory int64 // bytes; 0 where the kernel bounds them itself
	cpu    float64
}

// backend starts engines.
type backend interface {
	interpreter(ctx context.Context, workspace string, l Limits) (engine, error)
	run(ctx context.Context, c Command, l Limits, out *output) (Exit, error)
	adopt(dir string) error // makes a workspace the sandbox's
	own(f *os.File) error   // the same for one file
	layers(ctx context.Context) []Layer
	policy() []string // what its sessions may do, beside limits
	close()
}

// Bind shows a file or directory of this machine inside a sandbox.
type Bind struct {
	From, To string // absolute; From leads through no symbolic link
	Writable bool
}

// Command is a program to run in a sandbox of its own.
type Command struct {
	Args   []string
	Dir    string // inside; "" is /
	Stdin  io.Reader
	Limits Limits // at most the pool's
	Binds  []Bind
	Env    map[string]string // beside what every sandbox has
}

// Exit is how a Command ended.
type Exit struct {
	Code      int // 128 and the signal if one killed it
	Output    string
	Truncated bool
	Reason    string   // why it was killed, if it was by a limit
	Refused   Refusals // system calls that its sandbox refused, by name

	uid uint32 // of its user on this machine
}
