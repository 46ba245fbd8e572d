package repl

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"

	"macaron/internal/errs"
)

// interpreterProcess is the backend that needs nothing of the machine: Starlark, in a
// process of this same program for each session. docs/formats/repl.md has the subset.
type interpreterProcess struct{ command []string }

func openStarlark(o Options) (backend, error) {
	if len(o.Worker) == 0 {
		return nil, errs.New(errs.InvalidRequest, "the starlark backend needs the command of its worker", "")
	}
	return &interpreterProcess{o.Worker}, nil
}

func (b *interpreterProcess) interpreter(_ context.Context, workspace string, l Limits) (engine, error) {
	var files [6]*os.File
	var err error
	for i := 0; i < 6 && err == nil; i += 2 {
		files[i], files[i+1], err = os.Pipe()
	}
	if err != nil {
		return nil, err
	}
	limits, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(b.command[0], append(b.command[1:], string(limits))...) //nolint:noctx // it outlives the call that starts it
	cmd.Env, cmd.Dir = []string{}, workspace
	cmd.ExtraFiles = []*os.File{files[0], files[3]}
	cmd.Stdout, cmd.Stderr = files[5], files[5]
	err = startAlone(cmd)
	for _, f := range []*os.File{files[0], files[3], files[5]} {
		_ = f.Close() // the child has its own
	}
	if err != nil {
		for _, f := range []*os.File{files[1], files[2], files[4]} {
			_ = f.Close() // nothing was sent
		}
		return nil, errs.Wrap(errs.Unsupported, err, "the worker of the starlark backend does not start", "")
	}
	p := &alone{cmd: cmd, in: files[1], out: files[2], output: newOutput(), done: make(chan struct{})}
	p.output.read(files[4])
	go p.wait()
	return p, nil
}

// run needs processes, which this backend has none of.
func (b *interpreterProcess) run(context.Context, Command, Limits, *output) (Exit, error) {
	return Exit{}, errs.New(errs.Unsupported, "commands need the bubblewrap backend", "install bubblewrap and set sandbox.backend = \"bubblewrap\"")
}

func (b *interpreterProcess) adopt(string) error { return nil }
func (b *interpreterProcess) own(*os.File) error { return nil }
func (b *interpreterProcess) policy() []string   { return []string{"starlark"} }
func (b *interpreterProcess) close()             {}
func (b *interpreterProcess) layers(context.Context) []Layer {
	return []Layer{
		{"language", true, true, "Starlark: no files, network, processes, clock or imports to be had"},
		{"process", true, true, "one for each session, with an empty environment and no descriptors but its own"},
		{"rlimits", limitsHold, false, "memory and CPU time by the kernel"},
	}
}

// alone is one worker.
type alone struct {
	cmd     *exec.Cmd
	in, out *os.File
	output  *output
	done    chan struct{}

	mu     sync.Mutex
	reason string
}

func (p *alone) send(m request) error    { return writeFrame(p.in, m) }
func (p *alone) receive() (reply, error) { return receive[reply](p.out) }
func (p *alone) stdout() *output         { return p.output }
func (p *alone) refused() Refusals       { return nil } // the language has no system calls
func (p *alone) ended() <-chan struct{}  { return p.done }

func (p *alone) usage() usage {
	cpu, memory := one(p.cmd.Process.Pid)
	return usage{memory: memory, cpu: cpu}
}

func (p *alone) kill(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == "" {
		p.reason = reason
	}
	_ = p.cmd.Process.Kill() // gone is as good
}

func (p *alone) wait() {
	_ = p.cmd.Wait() // the state tells the same
	p.output.close()
	close(p.done)
}

func (p *alone) why() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason != "" {
		return p.reason
	}
	code := p.cmd.ProcessState.ExitCode()
	if code == 2 || code < 0 { // of the Go runtime, out of memory; a signal
		return "it was killed, or used more memory than it may"
	}
	return "its interpreter ended by itself, with status " + strconv.Itoa(code)
}

func (p *alone) release() {
	_ = p.in.Close() // nobody reads it any more
	_ = p.out.Close()
}

// limitsOf reads what interpreter wrote.
func limitsOf(text string) (l Limits, err error) {
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return l, fmt.Errorf("the limits are no JSON: %w", err)
	}
	return l, nil
}
